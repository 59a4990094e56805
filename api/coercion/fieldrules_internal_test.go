package coercion

import (
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"cosmosblog/graph"
)

// TestFieldRulesAreComplete fails if a text of an input has no rule, or if a rule names nothing in
// the schema.
func TestFieldRulesAreComplete(t *testing.T) {
	named := map[string]bool{"Query.userByUsername.username": true, "Query.user.id": true, "Query.post.id": true, "Query.node.id": true,
		"Query.tag.name": true, "Query.archive.month": true, "Query.archiveMonths.before": true}
	for _, definition := range graph.NewExecutableSchema(graph.Config{}).Schema().Types {
		if definition.Kind != ast.InputObject || strings.HasPrefix(definition.Name, "__") {
			continue
		}
		for _, field := range definition.Fields {
			name := definition.Name + "." + field.Name
			if named[name] = true; fieldRules[name] == nil && field.Type.Name() != "Int" {
				t.Errorf("%s has no rule", name)
			}
		}
	}
	for name := range fieldRules {
		if !named[name] {
			t.Errorf("the schema has no %s", name)
		}
	}
}
