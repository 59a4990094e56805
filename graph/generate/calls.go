package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
)

// edit replaces a part of a file of Go.
type edit struct {
	from, to token.Pos
	text     string
}

// insert returns an edit that adds a text after a brace.
func insert(brace token.Pos, text string) edit { return edit{brace + 1, brace + 1, text} }

// addCalls changes gqlgen's file so that the function of each object first calls the one of
// plain_generated.go, and that the schema is loaded with our built-in definitions. It also removes
// the map of functions for input types: gqlgen makes one for each request, and only
// graphql.UnmarshalInputFromContext reads it, which nothing here calls. It returns an error, and
// changes nothing, if something is missing or has another form than plain.go relies on.
func addCalls(file string, objects []*object) error {
	source, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	positions := token.NewFileSet()
	syntax, err := parser.ParseFile(positions, file, source, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	context, err := executionContext(syntax)
	if err != nil {
		return err
	}
	edits, err := removeInputMap(syntax)
	if err != nil {
		return err
	}
	ours, err := loadOurSchema(syntax)
	if err != nil {
		return err
	}
	edits = append(append(edits, ours...), insert(context.Fields.Opening, "\n\tplain plainFields"))
	for _, o := range objects {
		body, err := objectFunction(syntax, o)
		if err != nil {
			return err
		}
		edits = append(edits, insert(body.Lbrace,
			fmt.Sprintf("\n\tif plain := ec.plain%s(ctx, sel, obj); plain != nil {\n\t\treturn plain\n\t}", o.Name)))
	}
	slices.SortFunc(edits, func(a, b edit) int { return int(b.from - a.from) }) // from the end
	for _, e := range edits {
		source = slices.Replace(source, positions.Position(e.from).Offset, positions.Position(e.to).Offset, []byte(e.text)...)
	}
	if source, err = format.Source(source); err != nil {
		return err
	}
	return os.WriteFile(file, source, 0o644)
}

// removeInputMap returns the edits that remove the map of functions for input types.
func removeInputMap(syntax *ast.File) (edits []edit, err error) {
	isMade := false
	ast.Inspect(syntax, func(n ast.Node) bool {
		assignment, ok := n.(*ast.AssignStmt)
		if !ok {
			return true
		}
		source := sourceOf([]ast.Stmt{assignment}, 0)
		made := strings.HasPrefix(source, "inputUnmarshalMap := ")
		if made || source == "ctx = graphql.WithUnmarshalerMap(ctx, inputUnmarshalMap)" {
			edits = append(edits, edit{assignment.Pos(), assignment.End(), ""})
		}
		isMade = isMade || made
		return true
	})
	if !isMade {
		return nil, fmt.Errorf("gqlgen generated no inputUnmarshalMap")
	}
	return edits, nil
}

// loadOurSchema returns the edits that load the schema with the definitions of package
// introspection.
func loadOurSchema(syntax *ast.File) (edits []edit, err error) {
	ast.Inspect(syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			if n.Path.Value == `"github.com/vektah/gqlparser/v2"` {
				edits = append(edits, edit{n.Pos(), n.End(), ""})
			}
		case *ast.CallExpr:
			if called, ok := n.Fun.(*ast.SelectorExpr); ok && called.Sel.Name == "MustLoadSchema" {
				edits = append(edits, edit{n.Fun.Pos(), n.Fun.End(), "mustLoadSchema"})
			}
		}
		return true
	})
	if len(edits) != 2 {
		return nil, fmt.Errorf("gqlgen loads the schema in another way")
	}
	return edits, nil
}

// executionContext returns gqlgen's type for the state of an operation.
func executionContext(syntax *ast.File) (*ast.StructType, error) {
	for _, declaration := range syntax.Decls {
		if types, ok := declaration.(*ast.GenDecl); ok && types.Tok == token.TYPE {
			spec := types.Specs[0].(*ast.TypeSpec)
			if structure, ok := spec.Type.(*ast.StructType); ok && spec.Name.Name == "executionContext" {
				return structure, nil
			}
		}
	}
	return nil, fmt.Errorf("gqlgen generated no struct executionContext")
}

// objectFunction returns the body of gqlgen's function for an object.
func objectFunction(syntax *ast.File, o *object) (*ast.BlockStmt, error) {
	for _, declaration := range syntax.Decls {
		function, ok := declaration.(*ast.FuncDecl)
		if !ok || function.Name.Name != "_"+o.Name {
			continue
		}
		// The function collects the fields as plain.go does, and returns a FieldSet in their order.
		statements := function.Body.List
		for i, want := range map[int]string{
			0:                   "fields := graphql.CollectFields(ec.OperationContext, sel, " + o.Implementors() + ")",
			1:                   "out := graphql.NewFieldSet(fields)",
			len(statements) - 1: "return out",
		} {
			if got := sourceOf(statements, i); got != want {
				return nil, fmt.Errorf("gqlgen's function _%s has %q, not %q: check graph/plain.go", o.Name, got, want)
			}
		}
		return function.Body, nil
	}
	return nil, fmt.Errorf("gqlgen generated no function _%s", o.Name)
}

// sourceOf returns the source of a statement, or "" if there is none.
func sourceOf(statements []ast.Stmt, i int) string {
	var source bytes.Buffer
	if i < 0 || i >= len(statements) || format.Node(&source, token.NewFileSet(), statements[i]) != nil {
		return ""
	}
	return source.String()
}
