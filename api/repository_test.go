package api_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"

	manifests "cosmosblog/api/documents"
	"cosmosblog/guard/limits"
)

const repository = ".."

// TestDocumentsOfTheRepository fails if a change of the schema breaks a document in a file
// *.graphql, or a document of Relay in TypeScript: those of the web pages, of the examples, and of
// the tests with client libraries.
func TestDocumentsOfTheRepository(t *testing.T) {
	schema := repositorySchema(t)
	projects := projectsWithDocuments(t, schema)
	clients := "proof/conformance/clients"
	for _, name := range []string{"examples/apollo", "examples/go-client", "examples/relay" + relay, "examples/urql", clients, clients + relay, "web"} {
		if projects[name] == nil {
			t.Errorf("found no documents in %s", name)
		}
	}
	for name, p := range projects {
		for _, operation := range p.operations {
			for _, err := range validator.ValidateWithRules(schema, p.documentOf(operation), nil) {
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

// TestManifestOfTheRepository checks that the server accepts each operation in a file *.graphql in
// a manifest: its least price is within the limit, too. Relay's compiler writes other texts.
func TestManifestOfTheRepository(t *testing.T) {
	texts := map[string]string{}
	for name, p := range projectsWithDocuments(t, repositorySchema(t)) {
		if strings.HasSuffix(name, relay) {
			continue
		}
		for _, operation := range p.operations {
			var text strings.Builder
			formatter.NewFormatter(&text).FormatQueryDocument(p.documentOf(operation))
			texts[operation.Position.Src.Name+" "+operation.Name] = text.String()
		}
	}
	encoded, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := manifests.ParseManifest(encoded)
	if err != nil {
		t.Fatal(err)
	}
	if err := manifests.New(limits.Default(), false).Load(manifest, true); err != nil {
		t.Error(err)
	}
}

// project has the documents of a folder with a package.json or a go.mod: those in files *.graphql,
// or those of Relay. They may use all its fragments.
type project struct {
	operations ast.OperationList
	fragments  ast.FragmentDefinitionList
	used       ast.FragmentDefinitionList
}

// documentOf returns a document with an operation and the fragments that it uses. It adds the
// variables of these fragments to the operation.
func (p *project) documentOf(operation *ast.OperationDefinition) *ast.QueryDocument {
	document := &ast.QueryDocument{Operations: ast.OperationList{operation}}
	p.addFragments(document, operation.SelectionSet)
	for _, fragment := range document.Fragments {
		operation.VariableDefinitions = append(operation.VariableDefinitions, fragment.VariableDefinition...)
	}
	return document
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
func projectsWithDocuments(t *testing.T, schema *ast.Schema) map[string]*project {
	t.Helper()
	projects := map[string]*project{}
	err := filepath.WalkDir(repository, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			name := entry.Name()
			if path != repository && (name[0] == '.' || slices.Contains([]string{"node_modules", "generated", "dist"}, name)) {
				return fs.SkipDir
			}
			return nil
		}
		kind, document, err := readDocument(t, path, schema)
		if err != nil || document == nil {
			return err
		}
		folder, err := filepath.Rel(repository, projectOf(path))
		if err != nil {
			return err
		}
		name := filepath.ToSlash(folder) + kind
		p := projects[name]
		if p == nil {
			p = &project{}
			projects[name] = p
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

// readDocument returns the documents of a file as one, and relay as its kind if they are those of
// Relay. If the file has none, the document is nil.
func readDocument(t *testing.T, path string, schema *ast.Schema) (kind string, document *ast.QueryDocument, err error) {
	t.Helper()
	switch filepath.Ext(path) {
	case ".graphql":
		document, err = parser.ParseQuery(readSource(t, path))
		return "", document, err
	case ".ts", ".tsx":
		source := relayDocuments(readSource(t, path))
		if source.Input == "" {
			return "", nil, nil
		}
		if document, err = parser.ParseQuery(source); err != nil {
			return "", nil, err
		}
		return relay, document, removeRelay(schema, document)
	}
	return "", nil, nil
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

func repositorySchema(t *testing.T) *ast.Schema {
	t.Helper()
	return gqlparser.MustLoadSchema(readSource(t, filepath.Join(repository, "schema.graphqls")))
}

func readSource(t *testing.T, path string) *ast.Source {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return &ast.Source{Name: path, Input: string(text)}
}
