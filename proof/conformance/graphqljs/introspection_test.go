//go:build ci

package graphqljs_test

import (
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// introspection adds selections of the schema to the operation.
func (g *generator) introspection() {
	g.fields = min(g.fields, 14)
	o := g.operation
	for range 1 + g.IntN(2) {
		if g.oneIn(3) {
			o.selections = append(o.selections, g.metaField(g.schema.Query, "__schema", nil, g.metaSelections("__Schema", 0, 0)))
			continue
		}
		name := pick(g, "Post", "Query", "Node", "DateTime", "CommentOrder", "CreatePostInput", "String", "__Type", "__TypeKind", "__Field", "__Directive", "__Schema", "__InputValue", "__EnumValue", "__DirectiveLocation",
			"Unknown", "", "ErrorCode", "Int", "Float", "ID", "Boolean", "UpdatePostInput", "PostConnection", "Mutation", "Subscription")
		arguments := []argument{{"name", g.value(name, &ast.Type{NamedType: "String", NonNull: true}), nil}}
		o.selections = append(o.selections, g.metaField(g.schema.Query, "__type", arguments, g.metaSelections("__Type", 0, 0)))
	}
	if g.oneIn(3) {
		o.selections = append(o.selections, g.meta("__typename", g.schema.Query))
	}
}

func (g *generator) metaField(of *ast.Definition, name string, arguments []argument, selections []*selection) *selection {
	s := &selection{name: name, of: of, arguments: arguments, directives: g.directives(), selections: selections}
	g.giveName(s, "")
	return s
}

// metaSelections returns a selection set on a type of the introspection. Lists within lists are
// few, because both sides have limits for them.
func (g *generator) metaSelections(on string, depth, lists int) (list []*selection) {
	of := g.schema.Types[on]
	for range 2 + g.IntN(6) {
		field := pick(g, of.Fields...)
		result := g.schema.Types[field.Type.Name()]
		isList := strings.Contains(field.Type.String(), "[")
		if result.IsCompositeType() && (depth > 4 || g.fields <= 0 || isList && lists > 1) || strings.HasPrefix(field.Name, "__") {
			list = append(list, g.meta("__typename", of))
			continue
		}
		var arguments []argument
		if a := field.Arguments.ForName("includeDeprecated"); a != nil && g.oneIn(2) {
			arguments = append(arguments, argument{a.Name, g.value(g.oneIn(2), a.Type), a.Type})
		}
		var selections []*selection
		if result.IsCompositeType() {
			g.fields--
			next := lists
			if isList {
				next++
			}
			selections = g.metaSelections(result.Name, depth+1, next)
		}
		list = append(list, g.metaField(of, field.Name, arguments, selections))
	}
	return list
}
