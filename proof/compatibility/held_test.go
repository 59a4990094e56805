package compatibility

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// root is the folder of the module.
const root = "../.."

// parseFolder parses the Go files of a folder of the module whose names end, or do not end, in
// _test.go.
func parseFolder(t *testing.T, folder string, isTest bool) (files []*ast.File) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: %d files, %v", folder, len(paths), err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") != isTest {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}

// untested are the sections whose claims no test here holds, or a test of their own does: all
// queries have an example in language.txt.
var untested = []string{"queries", "sdks", "unknown"}

// TestClaimsAreHeld checks that each claim about the engine names tests, and that these exist. What
// they check is for its reader to see.
func TestClaimsAreHeld(t *testing.T) {
	exists := map[string]bool{}
	for _, folder := range []string{"cosmostest", "engine", "engine/script", "proof/chaos",
		"proof/compatibility", "proof/conformance", "store/changefeed", "."} {
		for _, file := range parseFolder(t, folder, true) {
			for _, declared := range file.Decls {
				if f, ok := declared.(*ast.FuncDecl); ok && f.Recv == nil {
					exists[f.Name.Name] = true
				}
			}
		}
	}
	claims, _ := readClaims(t)
	for _, c := range claims {
		if isHeld := !slices.Contains(untested, c.section); isHeld != (len(c.tests) > 0) {
			t.Errorf("%s: %s names %d tests", c.section, c.behaviour, len(c.tests))
		}
		for _, name := range c.tests {
			if !exists[name] || !strings.HasPrefix(name, "Test") {
				t.Errorf("%s: there is no test %s", c.behaviour, name)
			}
		}
	}
}

// quoted matches the names of a claim.
var quoted = regexp.MustCompile("`([^`]+)`")

// named returns the names of the claims of a section, and whether they are refused.
func named(t *testing.T, section string) map[string]bool {
	t.Helper()
	claims, _ := readClaims(t)
	names := map[string]bool{}
	for _, c := range claims {
		if c.section == section {
			for _, name := range quoted.FindAllStringSubmatch(c.behaviour, -1) {
				names[name[1]] = c.support == refused
			}
		}
	}
	return names
}

// header matches the canonical name of a header.
var header = regexp.MustCompile(`^(X-Ms-[A-Za-z-]+|A-Im|Authorization|Content-Type|Date|Etag|Lsn|If-[A-Za-z-]+|Prefer)$`)

// TestHeadersAreClaimed checks that the page lists the headers that the engine reads and writes,
// and no others.
func TestHeadersAreClaimed(t *testing.T) {
	claimed := named(t, "request-headers")
	for name := range named(t, "answer-headers") {
		claimed[name] = false
	}
	used := map[string]bool{}
	for _, file := range parseFolder(t, "engine", false) {
		ast.Inspect(file, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				if text, err := strconv.Unquote(l.Value); err == nil && header.MatchString(text) {
					used[strings.ToLower(text)] = true
				}
			}
			return true
		})
	}
	for name := range used {
		if _, isClaimed := claimed[name]; !isClaimed {
			t.Errorf("the engine knows the header %s, which the page does not list", name)
		}
	}
	for name := range claimed {
		if !used[name] {
			t.Errorf("the page lists the header %s, which the engine does not know", name)
		}
	}
}

// status matches a status of the claims, with a substatus or without.
var status = regexp.MustCompile(`\b[2-5][0-9][0-9](/[0-9]+)?\b`)

// TestStatusesAreClaimed checks that the page lists the statuses and substatuses of the engine's
// errors, and no others.
func TestStatusesAreClaimed(t *testing.T) {
	claims, _ := readClaims(t)
	claimed := map[string]bool{} // whether it is built
	for _, c := range claims {
		if c.section == "statuses" {
			for _, s := range status.FindAllString(c.behaviour, -1) {
				claimed[s] = c.support != refused
			}
		}
	}
	used := usedStatuses(t)
	for s := range used {
		if !claimed[s] {
			t.Errorf("the engine answers %s, which the page does not list", s)
		}
	}
	for s, isBuilt := range claimed {
		if isBuilt != used[s] {
			t.Errorf("the page lists %s, built: %t; in the engine: %t", s, isBuilt, used[s])
		}
	}
}

// usedStatuses returns the statuses that the engine's source names, with their substatuses if these
// stand beside them.
func usedStatuses(t *testing.T) map[string]bool {
	numbers := map[string]int{"statusRetryWith": 449}
	for code := 200; code < 600; code++ {
		if text := http.StatusText(code); text != "" {
			numbers["Status"+strings.NewReplacer(" ", "", "-", "").Replace(text)] = code
		}
	}
	used := map[string]bool{"200": true}
	files := parseFolder(t, "engine", false)
	for _, file := range append(parseFolder(t, "engine/budget", false), files...) {
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			for i := 0; ok && i < len(spec.Values); i++ {
				if l, ok := spec.Values[i].(*ast.BasicLit); ok && l.Kind == token.INT {
					n, _ := strconv.ParseInt(l.Value, 0, 64)
					numbers[spec.Names[i].Name] = int(n)
				}
			}
			return true
		})
	}
	number := func(e ast.Expr) (int, bool) {
		switch e := e.(type) {
		case *ast.SelectorExpr:
			n, ok := numbers[e.Sel.Name]
			return n, ok
		case *ast.Ident:
			n, ok := numbers[e.Name]
			return n, ok
		case *ast.BasicLit:
			n, err := strconv.Atoi(e.Value)
			return n, err == nil
		}
		return 0, false
	}
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && strings.HasPrefix(s.Sel.Name, "Status") && numbers[s.Sel.Name] != 0 {
				used[strconv.Itoa(numbers[s.Sel.Name])] = true
				return true
			}
			call, ok := n.(*ast.CallExpr)
			if f, isName := callee(call); !ok || !isName || f != "errorf" || len(call.Args) < 2 {
				return true
			}
			code, ok := number(call.Args[0])
			substatus, okSub := number(call.Args[1])
			if !ok {
				t.Errorf("a status of the engine is not a constant")
			} else if okSub && substatus != 0 {
				used[fmt.Sprintf("%d/%d", code, substatus)] = true
				return false
			} else {
				used[strconv.Itoa(code)] = true
			}
			return true
		})
	}
	for _, file := range parseFolder(t, "cosmostest", false) { // answers of regions
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if f, isName := callee(call); ok && isName && f == "Refuse" && len(call.Args) == 2 {
				code, _ := number(call.Args[0])
				if l, ok := call.Args[1].(*ast.BasicLit); ok {
					text, _ := strconv.Unquote(l.Value)
					if substatus, ok := strings.CutPrefix(text, "x-ms-substatus: "); ok {
						used[fmt.Sprintf("%d/%s", code, substatus)] = true
					}
				}
			}
			return true
		})
	}
	return used
}

// callee returns the name of a called function of the package itself.
func callee(call *ast.CallExpr) (name string, ok bool) {
	if call == nil {
		return "", false
	}
	f, ok := call.Fun.(*ast.Ident)
	if !ok {
		return "", false
	}
	return f.Name, true
}
