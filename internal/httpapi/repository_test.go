package httpapi_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
)

const repository = "../.."

// TestDocumentsOfTheRepository fails if a change of the schema breaks a document in a file
// *.graphql: those of the web pages, of the examples, and of the tests with client libraries.
func TestDocumentsOfTheRepository(t *testing.T) {
	schema := gqlparser.MustLoadSchema(readSource(t, filepath.Join(repository, "schema.graphqls")))
	projects := projectsWithDocuments(t)
	for _, name := range []string{"examples/go-client", "internal/proof/conformance/clients", "web"} {
		if projects[name] == nil {
			t.Errorf("found no documents in %s", name)
		}
	}
	for name, p := range projects {
		for _, operation := range p.operations {
			document := &ast.QueryDocument{Operations: ast.OperationList{operation}}
			p.addFragments(document, operation.SelectionSet)
			for _, err := range validator.ValidateWithRules(schema, document, nil) {
				t.Errorf("the operation %s: %v", operation.Name, err)
			}
		}
		for _, fragment := range p.fragments {
			if !slices.Contains(p.used, fragment) {
				t.Errorf("%s: no operation of %s has the fragment %s", fragment.Position.Src.Name, name, fragment.Name)
			}
		}
	}
}

// project has the documents of a folder with a package.json or a go.mod. Its documents may use all
// its fragments.
type project struct {
	operations ast.OperationList
	fragments  ast.FragmentDefinitionList
	used       ast.FragmentDefinitionList
}

// addFragments adds the fragments of a selection to a document, with those that they use.
func (p *project) addFragments(document *ast.QueryDocument, selections ast.SelectionSet) {
	for _, selection := range selections {
		switch s := selection.(type) {
		case *ast.Field:
			p.addFragments(document, s.SelectionSet)
		case *ast.InlineFragment:
			p.addFragments(document, s.SelectionSet)
		case *ast.FragmentSpread:
			fragment := p.fragments.ForName(s.Name)
			if fragment == nil || document.Fragments.ForName(s.Name) != nil {
				continue // the validation finds a fragment that does not exist
			}
			p.used = append(p.used, fragment)
			document.Fragments = append(document.Fragments, fragment)
			p.addFragments(document, fragment.SelectionSet)
		}
	}
}

// projectsWithDocuments returns the projects of the repository by their folders.
func projectsWithDocuments(t *testing.T) map[string]*project {
	t.Helper()
	projects := map[string]*project{}
	err := filepath.WalkDir(repository, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := entry.Name(); entry.IsDir() && path != repository && (name[0] == '.' || name == "node_modules" || name == "generated") {
			return fs.SkipDir
		}
		if filepath.Ext(path) != ".graphql" {
			return nil
		}
		document, err := parser.ParseQuery(readSource(t, path))
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(repository, projectOf(path))
		if err != nil {
			return err
		}
		p := projects[filepath.ToSlash(folder)]
		if p == nil {
			p = &project{}
			projects[filepath.ToSlash(folder)] = p
		}
		p.operations = append(p.operations, document.Operations...)
		p.fragments = append(p.fragments, document.Fragments...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return projects
}

// projectOf returns the nearest folder above a file that has a package.json or a go.mod.
func projectOf(path string) string {
	for folder := filepath.Dir(path); ; folder = filepath.Dir(folder) {
		for _, name := range []string{"package.json", "go.mod"} {
			if _, err := os.Stat(filepath.Join(folder, name)); !errors.Is(err, fs.ErrNotExist) {
				return folder
			}
		}
	}
}

func readSource(t *testing.T, path string) *ast.Source {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return &ast.Source{Name: path, Input: string(text)}
}
