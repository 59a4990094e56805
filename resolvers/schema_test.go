package resolvers_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"cosmosblog/blog"
	"cosmosblog/graph"
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

// A query can select fields of one name from all types of objects that `node` returns: their types
// are equal, or the query would not be valid (GraphQL specification, section 5.3.2, "Field
// Selection Merging", SameResponseShape). Types that a list or an interface returns together are
// all such.
func TestFieldsOfNodesMerge(t *testing.T) {
	schema := graph.NewExecutableSchema(graph.Config{}).Schema()
	nodes := schema.GetPossibleTypes(schema.Types["Node"])
	if len(nodes) < 4 {
		t.Fatalf("the test has found only %d types", len(nodes))
	}
	for i, one := range nodes {
		for _, other := range nodes[:i] {
			for _, field := range one.Fields {
				if same := other.Fields.ForName(field.Name); same != nil && same.Type.String() != field.Type.String() {
					t.Errorf("%s.%s is %s, and %s.%s is %s", one.Name, field.Name, field.Type, other.Name, field.Name, same.Type)
				}
			}
		}
	}
	for name, definition := range schema.Types {
		if definition.IsAbstractType() && name != "Node" && !strings.HasPrefix(name, "__") {
			t.Errorf("the fields of %s must merge, too", name)
		}
	}
}

// One query reads the creation dates of all kinds of objects.
func TestCreationDatesOfNodes(t *testing.T) {
	s := newServer(t)
	ann := s.user("Ann")
	post := ann.post("Title", "Content")
	ids := []string{ann.id, post, ann.comment(post, "Hi"), ann.like(post)}
	const dates = `...on User{creationDate} ...on Post{creationDate} ...on Comment{creationDate} ...on Like{creationDate}`
	r := s.anonymous().ask(`query($ids:[ID!]!){nodes(ids:$ids){`+dates+`}}`, "ids", ids)
	for i := range ids {
		if date := r.text(fmt.Sprintf("nodes.%d.creationDate", i)); len(date) != len("2026-01-02T03:04:05.000006Z") {
			t.Errorf("%s: %q", ids[i], date)
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
