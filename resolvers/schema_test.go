package resolvers_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"cosmosblog/graph"
	"cosmosblog/internal/blog"
)

// The descriptions are what people read in the Playground.
func TestEverythingIsDescribed(t *testing.T) {
	for _, definition := range graph.NewExecutableSchema(graph.Config{}).Schema().Types {
		if definition.BuiltIn || strings.HasPrefix(definition.Name, "__") {
			continue
		}
		described(t, definition.Name, definition.Description)
		for _, field := range definition.Fields {
			if strings.HasPrefix(field.Name, "__") {
				continue
			}
			described(t, definition.Name+"."+field.Name, field.Description)
			for _, argument := range field.Arguments {
				described(t, definition.Name+"."+field.Name+"."+argument.Name, argument.Description)
				checkDefault(t, argument)
			}
		}
	}
}

func described(t *testing.T, what, description string) {
	t.Helper()
	if !strings.HasSuffix(description, ".") || strings.HasPrefix(description, " ") {
		t.Errorf("%s is described as %q, which is no sentence", what, description)
	}
}

// checkDefault holds the schema's page size to the domain's.
func checkDefault(t *testing.T, argument *ast.ArgumentDefinition) {
	t.Helper()
	if argument.Name != "first" {
		return
	}
	if argument.DefaultValue == nil || argument.DefaultValue.Raw != strconv.Itoa(blog.DefaultPageSize) ||
		!strings.Contains(argument.Description, "1 to "+strconv.Itoa(blog.MaxPageSize)) {
		t.Errorf("first is described as %q, with the default %v", argument.Description, argument.DefaultValue)
	}
}
