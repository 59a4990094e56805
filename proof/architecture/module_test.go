package architecture

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const moduleRoot = "../.."

// modulePath is the module's path in go.mod.
var modulePath = func() string {
	text, err := os.ReadFile(moduleRoot + "/go.mod")
	path, _, found := strings.Cut(strings.TrimPrefix(string(text), "module "), "\n")
	if err != nil || !found {
		panic(fmt.Sprint("go.mod begins with ", path, ": ", err))
	}
	return path
}()

// goPackage is a package of the module without its tests.
type goPackage struct {
	name    string // path within the module; "main" for the root
	imports []string
	files   []*goFile
	tests   []*goFile
}

// goFile is a parsed file.
type goFile struct {
	path        string // relative to this package
	source      []byte
	isGenerated bool
	syntax      *ast.File
	positions   *token.FileSet
}

// line returns the line number of a position.
func (f *goFile) line(position token.Pos) int { return f.positions.Position(position).Line }

// lines returns the number of lines of the file.
func (f *goFile) lines() int { return f.line(f.syntax.FileEnd) }

// imports returns the import paths of the file.
func (f *goFile) imports(t *testing.T) []string {
	t.Helper()
	var paths []string
	for _, spec := range f.syntax.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

// packageName returns the name of an import path within the module, or false for other modules.
func packageName(importPath string) (string, bool) {
	if importPath == modulePath {
		return "main", true
	}
	return strings.CutPrefix(importPath, modulePath+"/")
}

// isStandard reports whether an import path belongs to the standard library. Other paths start
// with a domain or with the module's path.
func isStandard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return first != modulePath && !strings.Contains(first, ".")
}

// parsed holds the result of parseModule, which all tests share.
var parsed = sync.OnceValues(parseModule)

// packages returns all packages of the module, by name.
func packages(t *testing.T) map[string]*goPackage {
	t.Helper()
	all, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		p.imports = nil
		for _, f := range p.files {
			p.imports = append(p.imports, f.imports(t)...)
		}
		slices.Sort(p.imports)
		p.imports = slices.Compact(p.imports)
	}
	return all
}

func parseModule() (map[string]*goPackage, error) {
	all := map[string]*goPackage{}
	err := filepath.WalkDir(moduleRoot, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := entry.Name()
		if entry.IsDir() {
			if path != moduleRoot && (base[0] == '.' || base[0] == '_' || base == "testdata" || base == "node_modules" || isModule(path)) {
				return fs.SkipDir
			}
			return nil
		}
		if filepath.Ext(base) != ".go" {
			return nil
		}
		return addFile(all, path)
	})
	return all, err
}

// isModule reports whether a folder is a module of its own, whose packages are not this module's.
func isModule(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, "go.mod"))
	return err == nil
}

// addFile parses a file and adds it to its package.
func addFile(all map[string]*goPackage, path string) error {
	source, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	positions := token.NewFileSet()
	syntax, err := parser.ParseFile(positions, path, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	name, err := filepath.Rel(moduleRoot, filepath.Dir(path))
	if err != nil {
		return err
	}
	if name = filepath.ToSlash(name); name == "." {
		name = "main"
	}
	p := all[name]
	if p == nil {
		p = &goPackage{name: name}
		all[name] = p
	}
	f := &goFile{
		path: path, source: source, isGenerated: ast.IsGenerated(syntax), syntax: syntax, positions: positions,
	}
	if strings.HasSuffix(path, "_test.go") {
		p.tests = append(p.tests, f)
	} else {
		p.files = append(p.files, f)
	}
	return nil
}
