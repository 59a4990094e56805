package graph

import (
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// gqlgen collects a field twice if fragments on two interfaces select it. It resolves both, and
// writes the first.
func TestFieldsCollectedTwice(t *testing.T) {
	collected := func(name, alias string) graphql.CollectedField {
		return graphql.CollectedField{Field: &ast.Field{Name: name, Alias: alias}}
	}
	plain := func(field graphql.CollectedField) (*selection, bool) {
		if field.Name == "author" {
			return &selection{fields: []selectedField{{plain: "id"}}}, true
		}
		return nil, field.Name != "content"
	}
	title, id := collected("title", "title"), collected("id", "id")
	for name, test := range map[string]struct {
		fields []graphql.CollectedField
		want   int // fields of the selection; 0 if gqlgen resolves all
	}{
		"scalar":             {[]graphql.CollectedField{title, id, title}, 2},
		"object":             {[]graphql.CollectedField{title, collected("author", "author"), collected("author", "author")}, 0},
		"resolved":           {[]graphql.CollectedField{title, collected("content", "content"), collected("content", "content")}, 0},
		"different fields":   {[]graphql.CollectedField{title, id, collected("excerpt", "id")}, 0},
		"no plain field":     {[]graphql.CollectedField{collected("content", "content")}, 0},
		"different aliases":  {[]graphql.CollectedField{title, collected("title", "other")}, 2},
		"plain and resolved": {[]graphql.CollectedField{title, collected("content", "content")}, 2},
	} {
		if got := len(newSelection(test.fields, plain).fields); got != test.want {
			t.Errorf("%s: %d fields, want %d", name, got, test.want)
		}
	}
}
