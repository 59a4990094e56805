package resolvers_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"cosmosblog/graph"
	"cosmosblog/internal/blog"
)

// The Playground shows the descriptions, so every type, field and argument needs one.
func TestSchemaHasDescriptions(t *testing.T) {
	for _, definition := range graph.NewExecutableSchema(graph.Config{}).Schema().Types {
		if definition.BuiltIn || strings.HasPrefix(definition.Name, "__") {
			continue
		}
		checkDescription(t, definition.Name, definition.Description)
		for _, field := range definition.Fields {
			if strings.HasPrefix(field.Name, "__") {
				continue
			}
			checkDescription(t, definition.Name+"."+field.Name, field.Description)
			for _, argument := range field.Arguments {
				checkDescription(t, definition.Name+"."+field.Name+"."+argument.Name, argument.Description)
				checkDefault(t, argument)
			}
		}
	}
}

func checkDescription(t *testing.T, name, description string) {
	t.Helper()
	if !strings.HasSuffix(description, ".") || strings.HasPrefix(description, " ") {
		t.Errorf("the description of %s is not a sentence: %q", name, description)
	}
}

// checkDefault compares the page sizes in the schema with those of the domain.
func checkDefault(t *testing.T, argument *ast.ArgumentDefinition) {
	t.Helper()
	if argument.Name != "first" {
		return
	}
	if argument.DefaultValue == nil || argument.DefaultValue.Raw != strconv.Itoa(blog.DefaultPageSize) ||
		!strings.Contains(argument.Description, "0 to "+strconv.Itoa(blog.MaxPageSize)) {
		t.Errorf("the description of first is %q with the default %v", argument.Description, argument.DefaultValue)
	}
}
