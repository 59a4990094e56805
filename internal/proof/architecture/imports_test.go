package architecture

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// allowedImports lists the packages of the module that a package may import, without its tests. A
// package that is not in the list may import none of them.
var allowedImports = map[string][]string{
	"graph":          {"graph/introspection", "graph/model", "internal/blog", "internal/limits"},
	"graph/generate": {"graph/introspection"},
	"graph/model":    {"internal/blog", "internal/limits"},
	"resolvers": {"graph", "graph/model", "internal/auth", "internal/blog", "internal/budget", "internal/limits", "internal/price", "internal/stream",
		"store", "store/cosmos", "store/sessions"},
	"projector": {"internal/blog", "store", "store/changefeed", "store/cosmos", "store/schema", "store/views"},

	"internal/auth":   {"internal/blog", "internal/loopback", "internal/secretfile"},
	"internal/budget": {"internal/blog", "internal/limits"},
	"internal/config": {"internal/limits", "internal/loopback"},
	"internal/datafolder": {"internal/auth", "internal/engine", "internal/files", "internal/inprocess", "internal/lifecycle", "internal/limits", "internal/secretfile",
		"store/changefeed", "store/cosmos", "store/provision", "store/schema"},
	"internal/documents": {"graph", "internal/blog", "internal/coercion", "internal/limits", "internal/price", "internal/querylimits", "internal/syntax"},
	"internal/graphqlws": {}, // serves any schema
	"internal/httpapi": {"graph", "graph/model", "internal/auth", "internal/blog", "internal/budget", "internal/coercion", "internal/documents", "internal/graphqlws", "internal/lifecycle", "internal/limits", "internal/loopback", "internal/memorypool",
		"internal/price", "internal/proxy", "internal/querylimits", "internal/strictjson", "internal/subscription", "internal/telemetry",
		"store/sessions", "web"},
	"internal/lifecycle": {"internal/limits", "internal/loopback"},
	"internal/monitor": {"internal/blog", "internal/budget", "internal/lifecycle", "internal/telemetry", "projector",
		"store", "store/changefeed", "store/cosmos", "store/readcache", "store/schema",
		"store/sessions", "store/tail"},
	"internal/memorypool":  {"internal/limits"},
	"internal/price":       {"internal/blog", "internal/limits"},
	"internal/proxy":       {"internal/limits", "internal/loopback"},
	"internal/querylimits": {"internal/blog", "internal/limits", "internal/syntax"},
	"internal/syntax":      {"internal/blog", "internal/limits"},
	"internal/secretfile":  {"internal/files"},
	"internal/strictjson":  {"internal/limits"},
	"internal/subscription": {"internal/blog", "internal/budget", "internal/lifecycle", "internal/limits", "internal/memorypool", "internal/price",
		"internal/stream"},
	"internal/coercion": {"graph/model", "internal/blog"},
	"web":               {"internal/blog"},
	"internal/seed":     {"internal/blog", "store/bulk", "store/cosmos", "store/views"},
	"internal/command": {"graph", "graph/model", "internal/auth", "internal/blog", "internal/budget", "internal/config", "internal/datafolder", "internal/documents",
		"internal/lifecycle", "internal/limits", "internal/monitor", "internal/seed", "internal/telemetry", "projector",
		"store", "store/audit", "store/changefeed", "store/cosmos", "store/export", "store/provision", "store/readcache", "store/schema",
		"store/sessions", "store/tail", "store/transfer", "store/views", "web"},

	// Tools that start the program in processes of its own.
	"bench": {"bench/bare", "bench/models", "bench/plot", "bench/models/v1", "bench/models/v2", "bench/models/v3", "bench/models/v4",
		"internal/proof/docsection", "internal/engine", "internal/inprocess", "internal/seed", "store/cosmos", "store/provision", "store/schema"},
	"bench/models":    {"internal/blog", "internal/seed", "store/cosmos"},
	"bench/models/v1": {"bench/models", "internal/blog", "internal/seed", "store/cosmos"},
	"bench/models/v2": {"bench/models", "internal/blog", "internal/seed", "store/cosmos"},
	"bench/models/v3": {"bench/models", "internal/blog", "internal/seed", "store/cosmos"},
	"bench/models/v4": {"bench/models", "internal/blog", "internal/seed", "projector", "store", "store/changefeed", "store/cosmos",
		"store/provision", "store/views"},
	"internal/proof/apitest":              {"internal/blog"},
	"internal/proof/exporttest":           {"internal/blog", "store/changefeed", "store/cosmos", "store/export", "store/schema"},
	"internal/proof/chaos":                {"cosmostest", "internal/proof/chaos/contract", "internal/proof/chaos/database"},
	"internal/proof/chaos/database":       {"cosmostest"},
	"internal/proof/conformance/azcosmos": {"cosmostest", "internal/config", "internal/datafolder"},

	// The layers of store: each imports only those above it.
	"store/cosmos":     {"internal/blog", "store/cosmos/retry"},
	"store/schema":     {"internal/blog", "store/cosmos"},
	"store":            {"internal/blog", "store/cosmos", "store/readcache", "store/schema"},
	"store/changefeed": {"internal/blog", "store/cosmos", "store/schema"},
	"store/views":      {"internal/blog", "store", "store/changefeed", "store/cosmos", "store/schema"},
	"store/audit":      {"internal/blog", "internal/hashset", "store", "store/changefeed", "store/cosmos", "store/schema", "store/views"},
	"store/transfer":   {"internal/blog", "store/changefeed", "store/cosmos", "store/schema"},
	"store/export":     {"internal/blog", "internal/files", "store/changefeed", "store/cosmos", "store/schema"},
	"store/provision":  {"internal/inprocess", "store/cosmos", "store/schema"},
	"store/tail":       {"internal/blog", "store/changefeed", "store/cosmos", "store/schema"},
	"store/sessions":   {"internal/blog", "store/changefeed", "store/cosmos", "store/schema"},
	"store/bulk":       {"internal/blog", "store", "store/cosmos", "store/schema", "store/views"},
	"internal/proof/storetest": {"cosmostest", "internal/blog", "store", "store/bulk", "store/changefeed", "store/cosmos",
		"store/provision", "store/schema", "store/views"},

	// The engine, and its public face.
	"cosmostest":             {"internal/engine", "internal/engine/budget", "internal/engine/script", "internal/inprocess"},
	"internal/engine":        {"internal/engine/budget", "internal/engine/query", "internal/engine/script", "internal/engine/value"},
	"internal/engine/query":  {"internal/engine/value"},
	"internal/engine/script": {"internal/engine/value"},
}

// storePackages lists the packages that may use azcosmos.
var storePackages = []string{"cosmostest", "bench/models", "bench/models/v1", "bench/models/v2", "bench/models/v3", "store", "store/audit", "store/bulk",
	"store/changefeed", "store/cosmos", "store/export", "store/provision", "store/schema", "internal/proof/storetest", "store/transfer", "store/views"}

// wiring lists the packages that connect the others and may import all of them.
var wiring = []string{"main"}

// isProof reports whether a package proves or measures the product and is not a part of it.
func isProof(name string) bool {
	return strings.HasPrefix(name, "internal/proof/") || name == "bench" || strings.HasPrefix(name, "bench/")
}

// TestProductDoesNotImportProofs checks that only tests and other proofs import proofs.
func TestProductDoesNotImportProofs(t *testing.T) {
	for name, p := range packages(t) {
		if isProof(name) {
			continue
		}
		for _, path := range p.imports {
			if imported, isOurs := packageName(path); isOurs && isProof(imported) {
				t.Errorf("%s must not import %s outside its tests", name, imported)
			}
		}
	}
}

func TestImports(t *testing.T) {
	for name, p := range packages(t) {
		if slices.Contains(wiring, name) {
			continue
		}
		for _, path := range p.imports {
			if imported, isOurs := packageName(path); isOurs && !slices.Contains(allowedImports[name], imported) {
				t.Errorf("%s must not import %s", name, imported)
			}
		}
	}
}

// TestImportRulesNamePackages checks that the rules of this file name existing packages.
func TestImportRulesNamePackages(t *testing.T) {
	all := packages(t)
	names := slices.Clone(wiring)
	for name, imports := range allowedImports {
		names = append(append(names, name), imports...)
	}
	for _, users := range moduleUsers {
		names = append(names, users...)
	}
	for _, name := range names {
		if all[name] == nil {
			t.Errorf("a rule names the package %s, which does not exist", name)
		}
	}
}

// moduleUsers maps the prefix of a third-party import path to the packages that may import it.
var moduleUsers = map[string][]string{
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos": storePackages,
	"github.com/Azure/azure-sdk-for-go/sdk/azcore":        append([]string{"internal/datafolder", "store/cosmos/retry"}, storePackages...),
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity":    {"internal/datafolder"},
	"github.com/RoaringBitmap/roaring":                    {"internal/engine"},
	"github.com/cockroachdb/pebble":                       {"internal/engine"},
	"github.com/dop251/goja":                              {"internal/engine/script"},
	"github.com/dlclark/regexp2":                          {"internal/engine/script"},
	"github.com/go-json-experiment/json":                  {"store/cosmos"},
	"github.com/golang-jwt/jwt":                           {"internal/auth"},
	"github.com/go-jose/go-jose":                          {"internal/auth"},
	"github.com/coder/websocket":                          {"bench", "internal/graphqlws"},
	"github.com/klauspost/compress":                       {"internal/httpapi"},
	"github.com/parquet-go/parquet-go":                    {"internal/proof/exporttest", "store/export"},
	"github.com/spf13/cobra":                              {"internal/command"},
	"github.com/prometheus":                               {"internal/telemetry"},
	"go.opentelemetry.io":                                 {"internal/telemetry"},
	"github.com/schollz/progressbar":                      {"internal/command"},
	"github.com/99designs/gqlgen":                         {"graph", "graph/generate", "graph/model", "resolvers", "internal/graphqlws", "internal/documents", "internal/httpapi", "internal/price", "internal/subscription"},
	"github.com/vektah/gqlparser":                         {"graph", "graph/generate", "graph/introspection", "graph/model", "resolvers", "internal/coercion", "internal/documents", "internal/httpapi", "internal/price", "internal/querylimits", "internal/subscription", "internal/syntax"},
}

func TestThirdPartyImports(t *testing.T) {
	for name, p := range packages(t) {
		for _, path := range p.imports {
			for prefix, users := range moduleUsers {
				if strings.HasPrefix(path, prefix) && !slices.Contains(users, name) {
					t.Errorf("%s must not import %s", name, path)
				}
			}
		}
	}
}

// dependencyRules limit everything that a package needs, directly or indirectly.
var dependencyRules = []struct {
	name   string
	allows func(ours string) bool // reports whether the package may need another package of the module
	reason string
}{
	{"internal/blog", func(ours string) bool { return ours == "internal/blog" },
		"the domain needs only the standard library and Unicode's normal forms"},
	{"internal/engine", func(ours string) bool { return strings.HasPrefix(ours, "internal/engine") },
		"the engine does not depend on the items that it stores"},
	{"store", func(ours string) bool { return !strings.HasPrefix(ours, "internal/engine") },
		"the store works the same on the engine and the service"},
	{"store/provision", func(ours string) bool { return !strings.HasPrefix(ours, "internal/engine") },
		"the store works the same on the engine and the service"},
	{"resolvers", func(ours string) bool { return ours != "projector" },
		"resolvers and projector do not depend on each other"},
	{"projector", func(ours string) bool { return ours != "resolvers" && ours != "graph" },
		"resolvers and projector do not depend on each other"},
	{"graph", func(ours string) bool { return ours != "store" && ours != "resolvers" },
		"generated code depends only on the domain"},
}

func TestDependencies(t *testing.T) {
	all := packages(t)
	for _, rule := range dependencyRules {
		ours, others := dependencies(all, rule.name)
		for name := range ours {
			if !rule.allows(name) {
				t.Errorf("%s must not depend on %s: %s", rule.name, name, rule.reason)
			}
		}
		for path := range others {
			if rule.name == "internal/blog" && !isStandard(path) && !strings.HasPrefix(path, "golang.org/x/text/") {
				t.Errorf("%s must not depend on %s: %s", rule.name, path, rule.reason)
			}
		}
	}
}

// TestNoFieldInterceptors requires that nothing intercepts fields. An interceptor would not see the
// plain fields of package graph, which are appended and not resolved.
func TestNoFieldInterceptors(t *testing.T) {
	for name, p := range packages(t) {
		for _, path := range p.imports {
			if strings.HasPrefix(path, "github.com/99designs/gqlgen/graphql/handler/apollo") {
				t.Errorf("%s must not import %s, which intercepts fields", name, path)
			}
		}
		for _, f := range p.files {
			ast.Inspect(f.syntax, func(node ast.Node) bool {
				if used, ok := node.(*ast.Ident); ok && (used.Name == "InterceptField" || used.Name == "AroundFields") {
					t.Errorf("%s:%d: %s would not see plain fields", f.path, f.line(used.Pos()), used.Name)
				}
				return true
			})
		}
	}
}
