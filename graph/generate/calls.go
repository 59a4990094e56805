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
)

// addCalls changes gqlgen's file so that the function of each object first calls the one of
// plain_generated.go. It returns an error if a function is missing, or does not begin as expected.
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
	type insertion struct {
		at   int
		text string
	}
	var insertions []insertion
	insertAfter := func(brace token.Pos, text string) {
		insertions = append(insertions, insertion{positions.Position(brace).Offset + 1, text})
	}

	context, err := executionContext(syntax)
	if err != nil {
		return err
	}
	insertAfter(context.Fields.Opening, "\n\tplain plainFields")
	for _, o := range objects {
		body, err := bodyOf(syntax, "_"+o.Name)
		if err != nil {
			return err
		}
		begin := []string{
			fmt.Sprintf("fields := graphql.CollectFields(ec.OperationContext, sel, %s)", o.Implementors()),
			"out := graphql.NewFieldSet(fields)",
		}
		end := "return out"
		for i, want := range append(begin, end) {
			statement := body.List[min(i, len(body.List)-1)]
			if want == end {
				statement = body.List[len(body.List)-1]
			}
			var got bytes.Buffer
			if err := format.Node(&got, positions, statement); err != nil {
				return err
			}
			if got.String() != want {
				return fmt.Errorf("gqlgen's function _%s has %q, not %q: check whether plain.go still fits", o.Name, got.String(), want)
			}
		}
		insertAfter(body.Lbrace, fmt.Sprintf("\n\tif plain := ec.plain%s(ctx, sel, obj); plain != nil {\n\t\treturn plain\n\t}", o.Name))
	}

	slices.SortFunc(insertions, func(a, b insertion) int { return b.at - a.at }) // from the end
	for _, i := range insertions {
		source = slices.Insert(source, i.at, []byte(i.text)...)
	}
	if source, err = format.Source(source); err != nil {
		return err
	}
	return os.WriteFile(file, source, 0o644)
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

// bodyOf returns the body of a function.
func bodyOf(syntax *ast.File, name string) (*ast.BlockStmt, error) {
	for _, declaration := range syntax.Decls {
		if function, ok := declaration.(*ast.FuncDecl); ok && function.Name.Name == name {
			return function.Body, nil
		}
	}
	return nil, fmt.Errorf("gqlgen generated no function %s", name)
}
