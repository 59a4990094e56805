package main

import (
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/codegen"
	"github.com/vektah/gqlparser/v2/ast"
)

const generated = `package graph

import (
	gqlparser "github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
)

var parsedSchema = gqlparser.MustLoadSchema(sources...)

type executionContext struct {
	*state
}

func (e *executableSchema) Exec(ctx context.Context) graphql.ResponseHandler {
	inputUnmarshalMap := graphql.BuildUnmarshalerMap(
		ec.unmarshalInputCreatePostInput,
	)
	first := true
	return func(ctx context.Context) *graphql.Response {
		ctx = graphql.WithUnmarshalerMap(ctx, inputUnmarshalMap)
		return e.run(ctx)
	}
}

func (ec *executionContext) _Post(ctx context.Context, sel ast.SelectionSet, obj *blog.Post) graphql.Marshaler {
	fields := graphql.CollectFields(ec.OperationContext, sel, postImplementors)

	out := graphql.NewFieldSet(fields)
	return out
}
`

func TestAddCalls(t *testing.T) {
	const called = `package graph

import (
	"github.com/vektah/gqlparser/v2/ast"
)

var parsedSchema = mustLoadSchema(sources...)

type executionContext struct {
	plain plainFields
	*state
}

func (e *executableSchema) Exec(ctx context.Context) graphql.ResponseHandler {

	first := true
	return func(ctx context.Context) *graphql.Response {

		return e.run(ctx)
	}
}

func (ec *executionContext) _Post(ctx context.Context, sel ast.SelectionSet, obj *blog.Post) graphql.Marshaler {
	if plain := ec.plainPost(ctx, sel, obj); plain != nil {
		return plain
	}
	fields := `
	file := filepath.Join(t.TempDir(), "generated.go")
	post := &object{Object: &codegen.Object{Definition: &ast.Definition{Name: "Post"}}}
	for _, test := range []struct{ right, wrong, err string }{
		{"", "", ""},
		{"struct", "interface", "no struct executionContext"},
		{"MustLoadSchema", "MustLoad", "loads the schema in another way"},
		{"inputUnmarshalMap := ", "other := ", "no inputUnmarshalMap"},
		{"_Post", "_post", "no function _Post"},
		{"CollectFields(ec.OperationContext", "CollectFields(ec", `has "fields := graphql.CollectFields(ec, sel`},
		{"NewFieldSet(fields)", "NewFieldSet(nil)", `has "out := graphql.NewFieldSet(nil)"`},
		{"return out", "return nil", `has "return nil"`},
	} {
		source := strings.Replace(generated, test.right, test.wrong, 1)
		if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
		err := addCalls(file, []*object{post})
		got, readErr := os.ReadFile(file)
		if readErr != nil {
			t.Fatal(readErr)
		}
		switch {
		case test.err == "" && (err != nil || !strings.Contains(string(got), called)):
			t.Errorf("%v\n%s", err, got)
		case test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err) || string(got) != source):
			t.Errorf("%s: got %v, want %s", test.wrong, err, test.err)
		}
	}
}

func TestScalarFunction(t *testing.T) {
	newPackage := func(path string, functions ...string) *types.Package {
		p := types.NewPackage(path, filepath.Base(path))
		for _, name := range functions {
			p.Scope().Insert(types.NewFunc(token.NoPos, p, name, types.NewSignatureType(nil, nil, nil, nil, nil, false)))
		}
		return p
	}
	for _, test := range []struct {
		pkg  *types.Package
		want function
	}{
		{newPackage("example.com/model", "MarshalDate", "AppendDate"), function{"example.com/model", "AppendDate"}},
		{newPackage("example.com/model", "MarshalDate"), function{}},
		{newPackage("github.com/99designs/gqlgen/graphql", "MarshalBoolean"), function{"strconv", "AppendBool"}},
	} {
		marshaler := test.pkg.Scope().Lookup(test.pkg.Scope().Names()[len(test.pkg.Scope().Names())-1]).(*types.Func)
		got, err := scalarFunction(marshaler)
		if (err != nil) != (test.want == function{}) || err == nil && *got != test.want {
			t.Errorf("%s: got %v, %v, want %v", marshaler.FullName(), got, err, test.want)
		}
	}
}
