package resolvers

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// feedField gives the context of a field that is asked for under another name.
func feedField() *graphql.FieldContext {
	return &graphql.FieldContext{Object: "Query", Field: graphql.CollectedField{
		Field: &ast.Field{Alias: "S3CRET", Name: "feed", Position: &ast.Position{Line: 2, Column: 3}},
	}}
}

// What goes wrong with an element of a list, and not with one of its fields, is told like everything else: gqlgen presents it
// in a goroutine of its own, where a panic would end the process.
func TestAnElementThatFails(t *testing.T) {
	r := New(nil, Options{Logger: slog.New(slog.DiscardHandler)})
	index := 7
	ctx := graphql.WithFieldContext(t.Context(), feedField())
	ctx = graphql.WithFieldContext(ctx, &graphql.FieldContext{Index: &index})
	shown := r.PresentError(ctx, errors.New("broken"))
	if shown.Path.String() != "S3CRET[7]" || len(shown.Locations) != 1 || shown.Locations[0].Line != 2 || shown.Extensions["code"] == nil {
		t.Errorf("got %+v", shown)
	}
}

// The log names the field as the schema does: other names are the client's, and may hold anything.
func TestTheLogHasNoAliases(t *testing.T) {
	var log strings.Builder
	r := New(nil, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	r.PresentError(graphql.WithFieldContext(t.Context(), feedField()), errors.New("broken"))
	if strings.Contains(log.String(), "S3CRET") || !strings.Contains(log.String(), "field=Query.feed ") {
		t.Errorf("got %s", &log)
	}
}
