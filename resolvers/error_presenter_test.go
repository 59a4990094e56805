package resolvers

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// feedField returns the context of Query.feed with an alias.
func feedField() *graphql.FieldContext {
	return &graphql.FieldContext{Object: "Query", Field: graphql.CollectedField{
		Field: &ast.Field{Alias: "S3CRET", Name: "feed", Position: &ast.Position{Line: 2, Column: 3}},
	}}
}

// Present accepts the context of a list element, which has no field. gqlgen calls it in another
// goroutine, where a panic would end the process.
func TestPresentErrorOfListElement(t *testing.T) {
	p := NewErrorPresenter(slog.New(slog.DiscardHandler))
	index := 7
	ctx := graphql.WithFieldContext(t.Context(), feedField())
	ctx = graphql.WithFieldContext(ctx, &graphql.FieldContext{Index: &index})
	shown := p.Present(ctx, errors.New("broken"))
	if shown.Path.String() != "S3CRET[7]" || len(shown.Locations) != 1 || shown.Locations[0].Line != 2 || shown.Extensions["code"] == nil {
		t.Errorf("got %+v", shown)
	}
}

// The log contains the schema's name of the field. Aliases come from the client and may be
// anything.
func TestLogOmitsAliases(t *testing.T) {
	var log strings.Builder
	p := NewErrorPresenter(slog.New(slog.NewTextHandler(&log, nil)))
	p.Present(graphql.WithFieldContext(t.Context(), feedField()), errors.New("broken"))
	if strings.Contains(log.String(), "S3CRET") || !strings.Contains(log.String(), "field=Query.feed ") {
		t.Errorf("got %s", &log)
	}
}
