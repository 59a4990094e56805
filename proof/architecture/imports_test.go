package architecture

import (
	"go/ast"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// place is where a room or a package stands in a table of docs/design.md.
type place struct {
	floor   int
	imports []string // what its row names: packages, and patterns such as store/...
}

// floorsBelow reads the table of docs/design.md that follows a text. A row has a floor, the names
// of what stands there, what that is, and, in the first table, what it imports.
func floorsBelow(t *testing.T, text string) map[string]place {
	t.Helper()
	_, table, _ := strings.Cut(readText(t, moduleRoot+"/docs/design.md"), text)
	_, table, _ = strings.Cut(table, "\n|---")
	table, _, _ = strings.Cut(table, "\n\n")
	floors := map[string]place{}
	for _, row := range strings.Split(table, "\n")[1:] {
		cells := append(strings.Split(row, "|"), "")
		floor, err := strconv.Atoi(strings.TrimSpace(cells[1]))
		if err != nil {
			t.Fatalf("a row begins with no floor: %s", row)
		}
		for _, name := range namesIn(cells[2]) {
			floors[name] = place{floor, namesIn(cells[4])}
		}
	}
	if len(floors) == 0 {
		t.Fatalf("docs/design.md has no table after %q", text)
	}
	return floors
}

// namesIn returns what a cell of a table has between backquotes. "all below" stands for all
// packages.
func namesIn(cell string) (names []string) {
	if strings.TrimSpace(cell) == "all below" {
		return []string{"..."}
	}
	for i, part := range strings.Split(cell, "`") {
		if i%2 == 1 {
			names = append(names, part)
		}
	}
	return names
}

// matches reports whether a pattern names a package, as in the arguments of the go command.
func matches(pattern, name string) bool {
	folder, isPattern := strings.CutSuffix(pattern, "...")
	return name == pattern || isPattern && strings.HasPrefix(name+"/", folder)
}

// roomOf returns the top folder of a package, or server.go.
func roomOf(name string) string {
	room, _, _ := strings.Cut(name, "/")
	if room == "main" {
		return "server.go"
	}
	return room
}

// ownImports returns the packages of the module that a package imports, without its tests.
func (p *goPackage) ownImports() (names []string) {
	for _, path := range p.imports {
		if name, isOurs := packageName(path); isOurs {
			names = append(names, name)
		}
	}
	return names
}

// TestFloors compares the tables of floors in docs/design.md with the imports: no arrow runs up,
// and the rows name all that is imported, and nothing else.
func TestFloors(t *testing.T) {
	rooms, all := floorsBelow(t, "\n## 1 Floors\n"), packages(t)
	used := map[string]bool{}
	for name, p := range all {
		room := roomOf(name)
		here, isListed := rooms[room]
		if !isListed {
			t.Errorf("the table has no row for %s", room)
		}
		used[room] = used[room] || len(p.files) > 0
		for _, imported := range p.ownImports() {
			there := roomOf(imported)
			if there == room {
				continue
			}
			if floor := rooms[there].floor; floor == 0 || floor >= here.floor {
				t.Errorf("%s imports %s, which is on no lower floor", name, imported)
			}
			named := slices.ContainsFunc(here.imports, func(pattern string) bool { return matches(pattern, imported) })
			if !named && there != "blog" && there != "internal" {
				t.Errorf("the row of %s does not name %s, which %s imports", room, imported, name)
			}
			for _, pattern := range here.imports {
				used[room+": "+pattern] = used[room+": "+pattern] || matches(pattern, imported)
			}
		}
	}
	for room, place := range rooms {
		if !used[room] {
			t.Errorf("a row names %s, which has no packages", room)
		}
		for _, pattern := range place.imports {
			if !used[room+": "+pattern] {
				t.Errorf("the row of %s names %s, which it does not import", room, pattern)
			}
		}
	}
}

// TestFloorsOfTheStore does the same for the packages of store, among themselves.
func TestFloorsOfTheStore(t *testing.T) {
	floors, all := floorsBelow(t, "\nThe store has floors of its own,"), packages(t)
	for name := range floors {
		if all[name] == nil {
			t.Errorf("a row names %s, which does not exist", name)
		}
	}
	for name, p := range all {
		if roomOf(name) != "store" {
			continue
		}
		here, isListed := floors[name]
		if !isListed {
			t.Errorf("the table has no row for %s", name)
		}
		for _, imported := range p.ownImports() {
			if roomOf(imported) == "store" && floors[imported].floor >= here.floor {
				t.Errorf("%s imports %s, which is on no lower floor", name, imported)
			}
		}
	}
}

// forOthers lists the rooms that other modules can import and may import, or cannot.
var forOthers = []string{"server.go", "cosmostest", "internal"}

const notForOthers = "This folder is not for other modules: it may change in any version."

// TestRoomsSayWhomTheyAreFor checks that rooms that are public only by their place say so in their
// package comment.
func TestRoomsSayWhomTheyAreFor(t *testing.T) {
	for room := range floorsBelow(t, "\n## 1 Floors\n") {
		p := packages(t)[room]
		says := p != nil && slices.ContainsFunc(p.files, func(f *goFile) bool {
			return f.syntax.Doc != nil && strings.Contains(strings.Join(strings.Fields(f.syntax.Doc.Text()), " "), notForOthers)
		})
		if says == slices.Contains(forOthers, room) {
			t.Errorf("%s: its package comment says %q: %v", room, notForOthers, says)
		}
	}
}

// narrow lists packages that need few others of the module, and which. Each is one thought that can
// be understood, and tested, without the product around it.
var narrow = map[string][]string{
	"api/documents/syntax": {"blog", "guard/limits"},
	"api/graphqlws":        {}, // serves any schema
	"api/strictjson":       {"guard/limits"},
	"api/subscription": {"api/documents", "blog", "graph/stream", "guard/budget", "guard/httpserver", "guard/limits", "guard/memorypool", "guard/price",
		"guard/request"}, // no schema, and no transport
	"cli/config":           {"guard/limits", "internal/loopback"},
	"engine/budget":        {},
	"engine/query":         {"engine/value"},
	"engine/script":        {"engine/value"},
	"engine/value":         {},
	"graph/stream":         {}, // a contract
	"proof/apitest":        {"blog", "guard/auth"},
	"proof/chaos":          {"cosmostest", "proof/chaos/contract", "proof/chaos/database"},
	"proof/chaos/contract": {}, // knows the program by its schema and its documents alone
	"store/cosmos":         {"blog"},
	"store/follow":         {},
	"store/readcache":      {},
}

func TestNarrowPackages(t *testing.T) {
	all := packages(t)
	for name, allowed := range narrow {
		if all[name] == nil {
			t.Errorf("a rule names %s, which does not exist", name)
			continue
		}
		for _, imported := range all[name].ownImports() {
			if !slices.Contains(allowed, imported) {
				t.Errorf("%s must not import %s", name, imported)
			}
		}
	}
}

// moduleUsers maps the prefix of an import path to the packages that may import it: a package of
// another module, or one of ours that only some rooms may import, by its path within the module.
var moduleUsers = map[string][]string{
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos": {"bench/bare", "bench/models/...", "cosmostest", "proof/storetest", "store/..."},
	"github.com/Azure/azure-sdk-for-go/sdk/azcore":        {"bench/models/...", "cli/datafolder", "cosmostest", "proof/storetest", "store/..."},
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity":    {"cli/datafolder"},
	"github.com/RoaringBitmap/roaring":                    {"engine"},
	"github.com/cockroachdb/pebble":                       {"engine"},
	"github.com/dop251/goja":                              {"engine/script"},
	"github.com/dlclark/regexp2":                          {"engine/script"},
	"github.com/go-json-experiment/json":                  {"store/cosmos"},
	"github.com/golang-jwt/jwt":                           {"guard/auth"},
	"github.com/go-jose/go-jose":                          {"guard/auth"},
	"github.com/coder/websocket":                          {"api/graphqlws", "bench"},
	"github.com/klauspost/compress":                       {"api"},
	"github.com/parquet-go/parquet-go":                    {"proof/exporttest", "store/export"},
	"github.com/spf13/cobra":                              {"cli"},
	"github.com/prometheus":                               {"internal/telemetry"},
	"go.opentelemetry.io":                                 {"internal/telemetry"},
	"github.com/schollz/progressbar":                      {"cli"},
	"internal/telemetry":                                  {"api", "cli", "cli/monitor"},
	"github.com/99designs/gqlgen":                         {"api/...", "graph/...", "guard/price", "resolvers"},
	"github.com/vektah/gqlparser":                         {"api/...", "graph/...", "guard/price", "resolvers"},
}

func TestThirdPartyImports(t *testing.T) {
	users := map[string]bool{}
	for name, p := range packages(t) {
		for _, path := range p.imports {
			if ours, isOurs := packageName(path); isOurs {
				path = ours
			}
			for prefix, patterns := range moduleUsers {
				if !strings.HasPrefix(path, prefix) {
					continue
				}
				named := slices.IndexFunc(patterns, func(pattern string) bool { return matches(pattern, name) })
				if named < 0 {
					t.Errorf("%s must not import %s", name, path)
					continue
				}
				users[prefix+": "+patterns[named]] = true
			}
		}
	}
	for prefix, patterns := range moduleUsers {
		for _, pattern := range patterns {
			if !users[prefix+": "+pattern] {
				t.Errorf("%s does not import %s", pattern, prefix)
			}
		}
	}
}

// TestTheDomainIsPure checks that the domain needs only the standard library and Unicode's normal
// forms.
func TestTheDomainIsPure(t *testing.T) {
	for _, path := range packages(t)["blog"].imports {
		if !isStandard(path) && !strings.HasPrefix(path, "golang.org/x/text/") {
			t.Errorf("blog must not import %s", path)
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
