package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// listedPackage is what these tests use of `go list -json`.
type listedPackage struct {
	ImportPath, Dir, Doc string
	GoFiles, Imports     []string
	Standard             bool
}

const module = "cosmosblog"

func (p listedPackage) isOurs() bool {
	return p.ImportPath == module || strings.HasPrefix(p.ImportPath, module+"/")
}

// name gives the package's path in the module; "main" for its root.
func (p listedPackage) name() string { return nameOf(p.ImportPath) }

func nameOf(importPath string) string {
	if importPath == module {
		return "main"
	}
	return strings.TrimPrefix(importPath, module+"/")
}

// list runs `go list` on packages of the module.
func list(t *testing.T, arguments ...string) []listedPackage {
	t.Helper()
	command := exec.Command("go", append([]string{"list", "-json=ImportPath,Dir,Doc,GoFiles,Imports,Standard"}, arguments...)...)
	var complaints bytes.Buffer
	command.Stderr = &complaints
	output, err := command.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, complaints.Bytes())
	}
	var packages []listedPackage
	for decoder := json.NewDecoder(bytes.NewReader(output)); ; {
		var p listedPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

// mayImport says which of our packages a package's files, without its tests, may import. What is not named may import
// none of ours. server.go wires them together and may import all.
var mayImport = map[string][]string{
	"internal/auth":    {"internal/blog", "internal/loopback", "internal/secretfile"},
	"graph":            {"graph/model", "internal/blog"},
	"graph/model":      {"internal/blog", "internal/limits"},
	"internal/config":  {"internal/limits", "internal/loopback"},
	"internal/httpapi": {"graph", "graph/model", "internal/auth", "internal/blog", "internal/limits", "internal/loopback", "internal/price", "internal/telemetry", "web"},
	"internal/price":   {"internal/blog", "internal/limits"},
	"resolvers":        {"graph", "graph/model", "internal/auth", "internal/blog", "internal/limits", "internal/price", "store"},
	"projector":        {"internal/blog", "store"},
	"internal/seed":    {"internal/blog", "store"},

	"internal/lifecycle":  {"internal/limits", "internal/loopback"},
	"internal/datafolder": {"internal/auth", "internal/lifecycle", "internal/limits", "internal/secretfile", "store", "store/embedded"},
	"internal/monitor":    {"internal/blog", "internal/lifecycle", "internal/telemetry", "projector", "store"},
	"internal/command": {"graph/model", "internal/auth", "internal/blog", "internal/config", "internal/datafolder",
		"internal/lifecycle", "internal/limits", "internal/monitor", "internal/seed", "internal/telemetry", "projector", "store"},

	"store":          {"internal/blog", "store/embedded"},
	"store/embedded": {"store/embedded/query", "store/embedded/script", "store/embedded/value"},

	"store/embedded/query":  {"store/embedded/value"},
	"store/embedded/script": {"store/embedded/value"},
}

// seesAll names the packages that wire the others together.
var seesAll = []string{"main"}

func TestWhoImportsWhom(t *testing.T) {
	for _, p := range list(t, "./...") {
		if slices.Contains(seesAll, p.name()) {
			continue
		}
		for _, imported := range p.Imports {
			ours := listedPackage{ImportPath: imported}
			if ours.isOurs() && !slices.Contains(mayImport[p.name()], ours.name()) {
				t.Errorf("%s must not import %s", p.name(), ours.name())
			}
		}
	}
}

// belongsTo names the packages that alone may import a module of others: prefix → packages.
var belongsTo = map[string][]string{
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos": {"store", "bench"},
	"github.com/Azure/azure-sdk-for-go/sdk/azcore":        {"store", "bench", "internal/datafolder"},
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity":    {"internal/datafolder"},
	"github.com/cockroachdb/pebble":                       {"store/embedded"},
	"github.com/dop251/goja":                              {"store/embedded/script"},
	"github.com/dlclark/regexp2":                          {"store/embedded/script"},
	"github.com/golang-jwt/jwt":                           {"internal/auth"},
	"github.com/go-jose/go-jose":                          {"internal/auth"},
	"github.com/spf13/cobra":                              {"internal/command"},
	"github.com/prometheus":                               {"internal/telemetry"},
	"go.opentelemetry.io":                                 {"internal/telemetry"},
	"github.com/schollz/progressbar":                      {"internal/command"},
	"github.com/99designs/gqlgen":                         {"graph", "graph/model", "resolvers", "internal/httpapi", "internal/price"},
	"github.com/vektah/gqlparser":                         {"graph", "graph/model", "resolvers", "internal/httpapi", "internal/price"},
	"github.com/wundergraph/graphql-go-tools":             {"web", "internal/httpapi"},
}

func TestWhereModulesOfOthersAreUsed(t *testing.T) {
	for _, p := range list(t, "./...") {
		for _, imported := range p.Imports {
			for prefix, packages := range belongsTo {
				if strings.HasPrefix(imported, prefix) && !slices.Contains(packages, p.name()) {
					t.Errorf("%s must not import %s", p.name(), imported)
				}
			}
		}
	}
}

// TestWhatThingsStandOn looks at everything that a package needs, directly or not.
func TestWhatThingsStandOn(t *testing.T) {
	for _, rule := range []struct {
		name  string
		needs func(listedPackage) bool // whether the package may need that
		why   string
	}{
		{"internal/blog", func(p listedPackage) bool { return p.Standard || p.name() == "internal/blog" },
			"the domain stands on the standard library alone"},
		{"store/embedded", func(p listedPackage) bool { return !p.isOurs() || strings.HasPrefix(p.name(), "store/embedded") },
			"the engine knows nothing of what it keeps"},
		{"resolvers", func(p listedPackage) bool { return p.name() != "projector" },
			"resolvers and projector never meet"},
		{"projector", func(p listedPackage) bool { return p.name() != "resolvers" && p.name() != "graph" },
			"resolvers and projector never meet"},
		{"graph", func(p listedPackage) bool { return p.name() != "store" && p.name() != "resolvers" },
			"generated code knows the domain alone"},
	} {
		for _, needed := range list(t, "-deps", "./"+rule.name) {
			if !rule.needs(needed) {
				t.Errorf("%s needs %s: %s", rule.name, needed.ImportPath, rule.why)
			}
		}
	}
}

// TestOneFileKnowsTheEngine holds that the store is the same on the engine as on the service.
func TestOneFileKnowsTheEngine(t *testing.T) {
	for _, p := range list(t, "./store") {
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			for _, spec := range file.Imports {
				path, err := strconv.Unquote(spec.Path.Value)
				if err != nil {
					t.Fatal(err)
				}
				if path == module+"/store/embedded" && name != "embedded.go" {
					t.Errorf("store/%s imports the engine; embedded.go alone may", name)
				}
			}
		}
	}
}

func TestEveryPackageHasAComment(t *testing.T) {
	for _, p := range list(t, "./...") {
		if p.Doc == "" {
			t.Errorf("%s has no package comment", p.name())
		}
	}
}
