package resolvers_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"cosmosblog/cosmostest"
	"cosmosblog/proof/docsection"
)

// step is a function on the way of a request.
type step struct{ name, file string }

// wayRow matches a row of the list. Functions with ↩ return before the next stage begins.
var wayRow = regexp.MustCompile("(?m)^\\|[^|]*\\| `([^`]+)`( ↩)? \\| (\\S+) \\|$")

// TestWayOfPost compares the way of a request in docs/design.md with the functions that wait while
// azcosmos reads a post. The handler of the test is that of package httpserver's server, which is
// not on the way here.
func TestWayOfPost(t *testing.T) {
	section, err := docsection.Read("../docs/design.md", "way of post")
	if err != nil {
		t.Fatal(err)
	}
	files := &sources{T: t, byFile: map[string][]function{}}
	var waiting []step
	for _, row := range wayRow.FindAllStringSubmatch(section, -1) {
		s := step{row[1], row[3]}
		if !slices.ContainsFunc(files.functions(s.file), func(f function) bool { return f.name == s.name }) {
			t.Errorf("%s has no function %s", s.file, s.name)
		}
		if returns := row[2] != ""; !returns && !strings.HasPrefix(s.file, "guard/httpserver/") {
			waiting = append(waiting, s)
		}
	}
	if way := files.wayOf(stackOfPost(t)); !slices.Equal(waiting, way) {
		t.Errorf("the document has %v,\nthe request %v", waiting, way)
	}
}

// stackOfPost reads a post and returns the program counters of the request to the database, the
// innermost function first.
func stackOfPost(t *testing.T) []uintptr {
	t.Helper()
	engine := cosmostest.New(t, cosmostest.Options{})
	watched := &stackWatcher{Transporter: engine}
	s := startServer(t, engine, &faultInjector{next: watched}, true)
	id := s.user("ann").ask(`mutation{createPost(input:{title:"Title",content:"Text"}){post{id}}}`).text("createPost.post.id")
	watched.stack = nil
	s.anonymous().ask(`query($id:ID!){post(id:$id){title}}`, "id", id)
	return watched.stack
}

// stackWatcher keeps the stack of the last point read.
type stackWatcher struct {
	policy.Transporter
	stack []uintptr
}

// Do implements policy.Transporter.
func (w *stackWatcher) Do(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/docs/") {
		w.stack = make([]uintptr, 1000)
		w.stack = w.stack[:runtime.Callers(1, w.stack)]
	}
	return w.Transporter.Do(r)
}

// sources are the functions of this program's files.
type sources struct {
	*testing.T
	byFile map[string][]function
}

// function is a function with its lines in its file.
type function struct {
	name        string
	first, last int
}

// functions returns the functions of a file. The name of a method follows that of its type.
func (s *sources) functions(file string) []function {
	s.Helper()
	if known, ok := s.byFile[file]; ok {
		return known
	}
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, filepath.Join("..", file), nil, parser.SkipObjectResolution)
	if err != nil {
		s.Fatal(err)
	}
	var found []function
	for _, declaration := range parsed.Decls {
		if f, ok := declaration.(*ast.FuncDecl); ok {
			found = append(found, function{nameOf(f), set.Position(f.Pos()).Line, set.Position(f.End()).Line})
		}
	}
	s.byFile[file] = found
	return found
}

func nameOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	receiver := f.Recv.List[0].Type
	for {
		switch t := receiver.(type) {
		case *ast.StarExpr:
			receiver = t.X
		case *ast.IndexExpr:
			receiver = t.X
		case *ast.IndexListExpr:
			receiver = t.X
		case *ast.Ident:
			return t.Name + "." + f.Name.Name
		}
	}
}

// wayOf returns this program's functions of a stack between net/http and azcosmos, the outermost
// first, each once, without generated code.
func (s *sources) wayOf(stack []uintptr) (way []step) {
	s.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		s.Fatal(err)
	}
	frames := runtime.CallersFrames(stack)
	for {
		frame, more := frames.Next()
		file, isOurs := strings.CutPrefix(filepath.ToSlash(frame.File), filepath.ToSlash(root)+"/")
		switch {
		case strings.Contains(frame.Function, "data/azcosmos."):
			way = nil // what azcosmos calls are policies
		case isOurs && !strings.HasPrefix(file, "graph/") && !strings.HasSuffix(file, "_test.go"):
			for _, f := range s.functions(file) {
				if found := (step{f.name, file}); f.first <= frame.Line && frame.Line <= f.last {
					way = append(way, found)
				}
			}
		}
		if !more {
			slices.Reverse(way)
			return unique(way)
		}
	}
}

// unique returns the steps without repetitions: a function that runs a function literal of another
// one stands between the two.
func unique(way []step) (once []step) {
	for _, s := range way {
		if !slices.Contains(once, s) {
			once = append(once, s)
		}
	}
	return once
}
