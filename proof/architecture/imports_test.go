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
	"graph":          {"graph/introspection", "graph/model", "blog", "guard/limits"},
	"graph/generate": {"graph/introspection"},
	"graph/model":    {"blog", "guard/limits"},
	"resolvers": {"graph", "graph/model", "guard/auth", "blog", "guard/budget", "guard/limits", "guard/price", "graph/stream",
		"store", "store/cosmos", "store/sessions"},
	"projector": {"blog", "store", "store/changefeed", "store/cosmos", "store/schema", "store/views"},

	"guard/auth":   {"blog", "internal/loopback", "internal/secretfile"},
	"guard/budget": {"blog", "guard/limits"},
	"cli/config":   {"guard/limits", "internal/loopback"},
	"cli/datafolder": {"guard/auth", "engine", "internal/files", "internal/inprocess", "api/lifecycle", "guard/limits", "internal/secretfile",
		"store/changefeed", "store/cosmos", "store/provision", "store/schema"},
	"api/documents": {"graph", "blog", "api/coercion", "guard/limits", "guard/price", "api/documents/querylimits", "api/documents/syntax"},
	"api/graphqlws": {}, // serves any schema
	"api": {"graph", "graph/model", "guard/auth", "blog", "guard/budget", "api/coercion", "api/documents", "api/graphqlws", "api/lifecycle", "guard/limits", "internal/loopback", "guard/memorypool",
		"guard/price", "guard/proxy", "api/documents/querylimits", "api/strictjson", "api/subscription", "internal/telemetry",
		"store/sessions", "web"},
	"api/lifecycle": {"guard/limits", "internal/loopback"},
	"cli/monitor": {"blog", "guard/budget", "api/lifecycle", "internal/telemetry", "projector",
		"store", "store/changefeed", "store/cosmos", "store/readcache", "store/schema",
		"store/sessions", "store/tail"},
	"guard/memorypool":          {"guard/limits"},
	"guard/price":               {"blog", "guard/limits"},
	"guard/proxy":               {"guard/limits", "internal/loopback"},
	"api/documents/querylimits": {"blog", "guard/limits", "api/documents/syntax"},
	"api/documents/syntax":      {"blog", "guard/limits"},
	"internal/secretfile":       {"internal/files"},
	"api/strictjson":            {"guard/limits"},
	"api/subscription": {"blog", "guard/budget", "api/lifecycle", "guard/limits", "guard/memorypool", "guard/price",
		"graph/stream"},
	"api/coercion": {"graph/model", "blog"},
	"web":          {"blog"},
	"store/seed":   {"blog", "store/bulk", "store/cosmos", "store/views"},
	"cli": {"graph", "graph/model", "guard/auth", "blog", "guard/budget", "cli/config", "cli/datafolder", "api/documents",
		"api/lifecycle", "guard/limits", "cli/monitor", "store/seed", "internal/telemetry", "projector",
		"store", "store/audit", "store/changefeed", "store/cosmos", "store/export", "store/provision", "store/readcache", "store/schema",
		"store/sessions", "store/tail", "store/transfer", "store/views", "web"},

	// Tools that start the program in processes of its own.
	"bench": {"bench/bare", "bench/models", "bench/plot", "bench/models/v1", "bench/models/v2", "bench/models/v3", "bench/models/v4",
		"proof/docsection", "engine", "internal/inprocess", "store/seed", "store/cosmos", "store/provision", "store/schema"},
	"bench/models":    {"blog", "store/seed", "store/cosmos"},
	"bench/models/v1": {"bench/models", "blog", "store/seed", "store/cosmos"},
	"bench/models/v2": {"bench/models", "blog", "store/seed", "store/cosmos"},
	"bench/models/v3": {"bench/models", "blog", "store/seed", "store/cosmos"},
	"bench/models/v4": {"bench/models", "blog", "store/seed", "projector", "store", "store/changefeed", "store/cosmos",
		"store/provision", "store/views"},
	"proof/apitest":              {"blog"},
	"proof/exporttest":           {"blog", "store/changefeed", "store/cosmos", "store/export", "store/schema"},
	"proof/chaos":                {"cosmostest", "proof/chaos/contract", "proof/chaos/database"},
	"proof/chaos/database":       {"cosmostest"},
	"proof/conformance/azcosmos": {"cosmostest", "cli/config", "cli/datafolder"},

	// The layers of store: each imports only those above it.
	"store/cosmos":     {"blog", "store/cosmos/retry"},
	"store/schema":     {"blog", "store/cosmos"},
	"store":            {"blog", "store/cosmos", "store/readcache", "store/schema"},
	"store/changefeed": {"blog", "store/cosmos", "store/schema"},
	"store/views":      {"blog", "store", "store/changefeed", "store/cosmos", "store/schema"},
	"store/audit":      {"blog", "internal/hashset", "store", "store/changefeed", "store/cosmos", "store/schema", "store/views"},
	"store/transfer":   {"blog", "store/changefeed", "store/cosmos", "store/schema"},
	"store/export":     {"blog", "internal/files", "store/changefeed", "store/cosmos", "store/schema"},
	"store/provision":  {"internal/inprocess", "store/cosmos", "store/schema"},
	"store/tail":       {"blog", "store/changefeed", "store/cosmos", "store/schema"},
	"store/sessions":   {"blog", "store/changefeed", "store/cosmos", "store/schema"},
	"store/bulk":       {"blog", "store", "store/cosmos", "store/schema", "store/views"},
	"proof/storetest": {"cosmostest", "blog", "store", "store/bulk", "store/changefeed", "store/cosmos",
		"store/provision", "store/schema", "store/views"},

	// The engine, and its public face.
	"cosmostest":    {"engine", "engine/budget", "engine/script", "internal/inprocess"},
	"engine":        {"engine/budget", "engine/query", "engine/script", "engine/value"},
	"engine/query":  {"engine/value"},
	"engine/script": {"engine/value"},
}

// storePackages lists the packages that may use azcosmos.
var storePackages = []string{"cosmostest", "bench/models", "bench/models/v1", "bench/models/v2", "bench/models/v3", "store", "store/audit", "store/bulk",
	"store/changefeed", "store/cosmos", "store/export", "store/provision", "store/schema", "proof/storetest", "store/transfer", "store/views"}

// wiring lists the packages that connect the others and may import all of them.
var wiring = []string{"main"}

// isProof reports whether a package proves or measures the product and is not a part of it.
func isProof(name string) bool {
	return strings.HasPrefix(name, "proof/") || name == "bench" || strings.HasPrefix(name, "bench/")
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
	"github.com/Azure/azure-sdk-for-go/sdk/azcore":        append([]string{"cli/datafolder", "store/cosmos/retry"}, storePackages...),
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity":    {"cli/datafolder"},
	"github.com/RoaringBitmap/roaring":                    {"engine"},
	"github.com/cockroachdb/pebble":                       {"engine"},
	"github.com/dop251/goja":                              {"engine/script"},
	"github.com/dlclark/regexp2":                          {"engine/script"},
	"github.com/go-json-experiment/json":                  {"store/cosmos"},
	"github.com/golang-jwt/jwt":                           {"guard/auth"},
	"github.com/go-jose/go-jose":                          {"guard/auth"},
	"github.com/coder/websocket":                          {"bench", "api/graphqlws"},
	"github.com/klauspost/compress":                       {"api"},
	"github.com/parquet-go/parquet-go":                    {"proof/exporttest", "store/export"},
	"github.com/spf13/cobra":                              {"cli"},
	"github.com/prometheus":                               {"internal/telemetry"},
	"go.opentelemetry.io":                                 {"internal/telemetry"},
	"github.com/schollz/progressbar":                      {"cli"},
	"github.com/99designs/gqlgen":                         {"graph", "graph/generate", "graph/model", "resolvers", "api/graphqlws", "api/documents", "api", "guard/price", "api/subscription"},
	"github.com/vektah/gqlparser":                         {"graph", "graph/generate", "graph/introspection", "graph/model", "resolvers", "api/coercion", "api/documents", "api", "guard/price", "api/documents/querylimits", "api/subscription", "api/documents/syntax"},
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
	{"blog", func(ours string) bool { return ours == "blog" },
		"the domain needs only the standard library and Unicode's normal forms"},
	{"engine", func(ours string) bool { return strings.HasPrefix(ours, "engine") },
		"the engine does not depend on the items that it stores"},
	{"store", func(ours string) bool { return !strings.HasPrefix(ours, "engine") },
		"the store works the same on the engine and the service"},
	{"store/provision", func(ours string) bool { return !strings.HasPrefix(ours, "engine") },
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
			if rule.name == "blog" && !isStandard(path) && !strings.HasPrefix(path, "golang.org/x/text/") {
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
