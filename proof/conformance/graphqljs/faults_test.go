//go:build ci

package graphqljs_test

import (
	"fmt"
	"strings"
)

// fault breaks a rule of chapter 5 of the specification in a valid document. rule is graphql-js's
// name of it. Some faults are none in some places, and some break other rules too: graphql-js says
// what is right.
type fault struct {
	rule string
	do   func(g *generator, t *tree) bool // false if the document has no place for it
}

var faults = []fault{
	{"ExecutableDefinitions", func(g *generator, t *tree) bool {
		t.tail += pick(g, "type X { a: Int }", "extend type Post { a: Int }", "schema { query: Query }", "directive @x on FIELD", "scalar X", "input I { a: Int = 1 }",
			"enum E { A }", "union U = Post | User", "interface I { a: Int }", `"text" type X`, "extend schema @x", "extend scalar DateTime @x", "type X implements Node & Y @x")
		return true
	}},
	{"UniqueOperationNames", func(g *generator, t *tree) bool {
		o := t.operations[0]
		if o.isShort || o.name == "" {
			return false
		}
		t.operations = append(t.operations, &operation{kind: pick(g, "query", "mutation", "subscription"), name: o.name, selections: []*selection{g.meta("__typename", g.schema.Query)}})
		return true
	}},
	{"LoneAnonymousOperation", func(g *generator, t *tree) bool {
		t.operations = append(t.operations, &operation{kind: "query", isShort: g.oneIn(2), selections: []*selection{g.meta("__typename", g.schema.Query)}})
		return true
	}},
	{"SingleFieldSubscriptions", func(g *generator, t *tree) bool {
		g.startSubscription(t)
		o := t.operations[0]
		list := &o.selections
		if (*list)[0].isInline {
			list = &(*list)[0].selections
		}
		switch root := o.selections[0]; g.IntN(8) {
		case 0:
			*list = append(*list, &selection{alias: "again", name: "postPublished", of: g.schema.Subscription, selections: []*selection{g.meta("cursor", g.schema.Types["PostEdge"])}})
		case 1:
			*list = append(*list, g.meta("__typename", g.schema.Subscription))
		case 2:
			*list = []*selection{g.meta("__typename", g.schema.Subscription)}
		case 3:
			root.directives = append(root.directives, pick(g, "@include(if: true)", "@skip(if: false)", "@skip(if: true)"))
		case 4:
			root.directives = append(root.directives, pick(g, "@include(if: $yes)", "@skip(if: $yes)"))
			o.variables = append(o.variables, &variable{name: "yes", kind: "Boolean!", value: pick(g, "true", "false")})
		case 5:
			t.fragments = append(t.fragments, &fragment{name: "Two", on: "Subscription", selections: []*selection{g.meta("__typename", g.schema.Subscription)}})
			o.selections = append(o.selections, &selection{name: "Two"})
		case 6:
			t.fragments = append(t.fragments, &fragment{name: "Root", on: "Subscription", selections: o.selections})
			o.selections = []*selection{{name: "Root", directives: pick(g, nil, nil, []string{"@include(if: true)"})}}
		case 7: // the same field twice, which is one
			*list = append(*list, (*list)[0])
		}
		return true
	}},
	{"KnownTypeNames", func(g *generator, t *tree) bool {
		switch g.IntN(3) {
		case 0:
			return g.addInline(t, "Unknown")
		case 1:
			t.fragments = append(t.fragments, &fragment{name: "New", on: "Unknown", selections: []*selection{g.meta("id", g.schema.Query)}})
			return g.addSpread(t, "New")
		}
		return g.addVariable(t, pick(g, "Unknown", "[Unknown!]!", "int", "__Unknown"), "null")
	}},
	{"FragmentsOnCompositeTypes", func(g *generator, t *tree) bool {
		on := pick(g, "String", "CommentOrder", "CreatePostInput", "DateTime", "__TypeKind")
		if g.oneIn(2) {
			return g.addInline(t, on)
		}
		t.fragments = append(t.fragments, &fragment{name: "New", on: on, selections: []*selection{g.meta("__typename", g.schema.Query)}})
		return g.addSpread(t, "New")
	}},
	{"VariablesAreInputTypes", func(g *generator, t *tree) bool {
		return g.addVariable(t, pick(g, "Post", "Node!", "[PostEdge]", "Query", "__Type", "__Schema!"), pick(g, "", "null", `"x"`))
	}},
	{"ScalarLeafs", func(g *generator, t *tree) bool {
		return g.change(t, isField, func(s *selection) {
			if s.selections == nil {
				s.selections = []*selection{g.meta(pick(g, "__typename", "id", "length"), g.schema.Query)}
			} else {
				s.selections = nil
			}
		})
	}},
	{"FieldsOnCorrectType", func(g *generator, t *tree) bool {
		names := []string{"unknown", "ID", "__unknown", "title", "edges", "posts", "__schema { types { name } }", `__type(name: "Post") { name }`, "node(id: 1) { id }", "totalCount"}
		if g.oneIn(2) {
			return g.change(t, isField, func(s *selection) { s.name = pick(g, names...) })
		}
		return g.add(t, &selection{name: pick(g, names...), of: g.schema.Query})
	}},
	{"UniqueFragmentNames", func(g *generator, t *tree) bool {
		if len(t.fragments) == 0 {
			return false
		}
		f := *pick(g, t.fragments...)
		t.fragments = append(t.fragments, &f)
		return true
	}},
	{"KnownFragmentNames", func(g *generator, t *tree) bool { return g.addSpread(t, pick(g, "Unknown", "Post", "f0")) }},
	{"NoUnusedFragments", func(g *generator, t *tree) bool {
		t.fragments = append(t.fragments, &fragment{name: pick(g, "Unused", "Post"), on: pick(g, "Post", "Node", "Query"), selections: []*selection{g.meta("__typename", g.schema.Query)}})
		return true
	}},
	{"PossibleFragmentSpreads", func(g *generator, t *tree) bool {
		on := pick(g, "Query", "Tag", "PostEdge", "Post", "Node", "User", "Mutation", "Subscription", "PageInfo", "__Type")
		if g.oneIn(2) {
			return g.addInline(t, on)
		}
		t.fragments = append(t.fragments, &fragment{name: "New", on: on, selections: []*selection{g.meta("__typename", g.schema.Query)}})
		return g.addSpread(t, "New")
	}},
	{"NoFragmentCycles", func(g *generator, t *tree) bool {
		if len(t.fragments) == 0 {
			return false
		}
		f := pick(g, t.fragments...)
		to := pick(g, f, pick(g, t.fragments...))
		f.selections = append(f.selections, &selection{name: to.name, directives: pick(g, nil, nil, []string{"@skip(if: true)"})})
		if g.oneIn(2) {
			to.selections = append(to.selections, &selection{name: f.name})
		}
		return true
	}},
	{"UniqueVariableNames", func(g *generator, t *tree) bool {
		o := pick(g, t.operations...)
		if len(o.variables) == 0 {
			return false
		}
		v := *pick(g, o.variables...)
		if g.oneIn(2) {
			v.kind = "String"
		}
		o.variables = append(o.variables, &v)
		return true
	}},
	{"NoUndefinedVariables", func(g *generator, t *tree) bool {
		if o := pick(g, t.operations...); len(o.variables) > 0 && g.oneIn(2) {
			o.variables = o.variables[1:]
			return true
		}
		return g.change(t, isAny, func(s *selection) { s.directives = []string{"@include(if: $undefined)"} })
	}},
	{"NoUnusedVariables", func(g *generator, t *tree) bool {
		o := pick(g, t.operations...)
		o.variables = append(o.variables, &variable{name: "unused", kind: pick(g, "Int", "String!", "[ID]", "CreatePostInput"), value: pick(g, "", "null", "1", `"x"`)})
		o.isShort = false
		return true
	}},
	{"KnownDirectives", func(g *generator, t *tree) bool {
		name := pick(g, "@unknown", "@unknown(if: true)", "@deprecated", `@deprecated(reason: "x")`, "@price", "@price(ru: 1)", "@semanticNonNull", "@viewer", "@oneOf", `@specifiedBy(url: "x")`,
			"@defer", "@stream(initialCount: 1)", "@defer(if: false)", "@Skip(if: true)")
		switch g.IntN(5) {
		case 0:
			return g.onOperation(t, pick(g, name, "@skip(if: false)", "@include(if: true)"))
		case 1:
			if o := pick(g, t.operations...); len(o.variables) > 0 {
				v := pick(g, o.variables...)
				v.directives = append(v.directives, pick(g, name, "@skip(if: false)", "@deprecated"))
				return true
			}
			return false
		case 2:
			if len(t.fragments) == 0 {
				return false
			}
			f := pick(g, t.fragments...)
			f.directives = append(f.directives, pick(g, name, "@include(if: true)"))
			return true
		}
		return g.change(t, isAny, func(s *selection) { s.directives = append(s.directives, name) })
	}},
	{"UniqueDirectivesPerLocation", func(g *generator, t *tree) bool {
		return g.change(t, isAny, func(s *selection) {
			s.directives = append(s.directives, pick(g, []string{"@skip(if: false)", "@skip(if: false)"}, []string{"@include(if: true)", "@skip(if: false)", "@include(if: false)"})...)
		})
	}},
	{"KnownArgumentNames", func(g *generator, t *tree) bool {
		if g.oneIn(3) {
			return g.change(t, isAny, func(s *selection) {
				s.directives = []string{pick(g, "@skip(if: false, unless: true)", "@include(unless: true)", "@include(If: true)")}
			})
		}
		return g.change(t, isField, func(s *selection) {
			s.arguments = append(s.arguments, argument{name: pick(g, "unknown", "First", "id", "first", "input", "if"), value: pick(g, "1", `"x"`, "null", "{}")})
		})
	}},
	{"UniqueArgumentNames", func(g *generator, t *tree) bool {
		if g.oneIn(3) {
			return g.change(t, isAny, func(s *selection) { s.directives = []string{"@skip(if: false, if: false)"} })
		}
		return g.change(t, hasArguments, func(s *selection) { s.arguments = append(s.arguments, s.arguments[0]) })
	}},
	{"ValuesOfCorrectType", func(g *generator, t *tree) bool {
		if g.oneIn(5) {
			return g.change(t, isAny, func(s *selection) {
				s.directives = []string{fmt.Sprintf("@%s(if: %s)", pick(g, "skip", "include"), g.wildLiteral(false))}
			})
		}
		return g.change(t, hasArguments, func(s *selection) {
			a := &s.arguments[g.IntN(len(s.arguments))]
			a.value = g.wildLiteral(false)
		})
	}},
	{"ProvidedRequiredArguments", func(g *generator, t *tree) bool {
		if g.oneIn(4) {
			return g.change(t, isAny, func(s *selection) { s.directives = []string{pick(g, "@skip", "@include")} })
		}
		return g.change(t, hasArguments, func(s *selection) { s.arguments = s.arguments[1:] })
	}},
	{"VariablesInAllowedPosition", func(g *generator, t *tree) bool {
		o := pick(g, t.operations...)
		if len(o.variables) == 0 {
			return false
		}
		v := pick(g, o.variables...)
		switch g.IntN(5) {
		case 0:
			v.kind = strings.TrimSuffix(v.kind, "!")
		case 1:
			v.kind = "[" + v.kind + "]"
		case 2:
			v.kind = strings.Trim(v.kind, "[]!")
		case 3:
			v.kind, v.standard = strings.TrimSuffix(v.kind, "!"), "null"
		default:
			v.kind = pick(g, "Int", "String", "ID", "ID!", "Boolean", "Float", "CommentOrder", "String!", "Int!")
			v.standard = ""
		}
		return true
	}},
	{"OverlappingFieldsCanBeMerged", func(g *generator, t *tree) bool {
		return g.changeIn(t, isField, func(list *[]*selection, i int) {
			s := *(*list)[i]
			name := s.alias
			if name == "" {
				name = s.name
			}
			switch g.IntN(4) {
			case 0: // another field under the name
				*list = append(*list, &selection{alias: name, name: pick(g, "__typename", "id", "title", "username", "viewer"), of: s.of})
			case 1: // other arguments
				s.alias, s.arguments = name, pick(g, nil, []argument{{name: "first", value: "17"}}, []argument{{name: "id", value: `"other"`}})
				*list = append(*list, &s)
			case 2: // the same in an inline fragment
				*list = append(*list, &selection{isInline: true, selections: []*selection{{alias: name, name: "__typename", of: s.of}}})
			case 3: // below
				s.selections = []*selection{{alias: pick(g, "id", "title", "a", "name", "edges"), name: "__typename", of: s.of}}
				*list = append(*list, &s)
			}
		})
	}},
	{"OverlappingFieldsCanBeMerged", func(g *generator, t *tree) bool {
		o := t.operations[0]
		if o.kind != "query" {
			return false
		}
		leaf := func(alias, name string) []*selection {
			return []*selection{{alias: alias, name: name, of: g.schema.Types["Post"]}}
		}
		pair := pick(g, [2]string{"title", "content"}, [2]string{"title", "excerpt"}, [2]string{"creationDate", "title"}, [2]string{"id", "id"}, [2]string{"version", "excerpt"}, [2]string{"version", "commentCount"})
		other := pick(g, [2]string{"User", "username"}, [2]string{"Comment", "excerpt"}, [2]string{"Comment", "content"}, [2]string{"Post", pair[1]}, [2]string{"Like", "id"}, [2]string{"User", "postCount"})
		o.selections = append(o.selections, &selection{alias: "merged", name: "node", of: g.schema.Query, arguments: []argument{{name: "id", value: g.quote(pick(g, g.nodes...))}}, selections: []*selection{
			{isInline: true, on: "Post", selections: leaf("x", pair[0])},
			{isInline: true, on: other[0], selections: leaf("x", other[1])},
		}})
		return true
	}},
	{"UniqueInputFieldNames", func(g *generator, t *tree) bool {
		return g.change(t, hasArguments, func(s *selection) {
			a := &s.arguments[len(s.arguments)-1]
			if inner, isObject := strings.CutPrefix(a.value, "{"); isObject && inner != "}" {
				a.value = "{" + strings.TrimSuffix(inner, "}") + "," + inner
			} else {
				a.value = pick(g, `{title: "a", title: "a"}`, `{unknown: 1, unknown: 1}`)
			}
		})
	}},
}

func isAny(*selection) bool          { return true }
func isField(s *selection) bool      { return s.of != nil }
func hasArguments(s *selection) bool { return len(s.arguments) > 0 }

// changeIn calls do for one of the selections, with the list that it is in. It returns false if
// none is possible.
func (g *generator) changeIn(t *tree, isPossible func(*selection) bool, do func(list *[]*selection, i int)) bool {
	type place struct {
		list *[]*selection
		i    int
	}
	var places []place
	t.walk(func(list *[]*selection, i int) {
		if isPossible((*list)[i]) {
			places = append(places, place{list, i})
		}
	})
	if len(places) == 0 {
		return false
	}
	p := pick(g, places...)
	do(p.list, p.i)
	return true
}

func (g *generator) change(t *tree, isPossible func(*selection) bool, do func(*selection)) bool {
	return g.changeIn(t, isPossible, func(list *[]*selection, i int) { do((*list)[i]) })
}

// add adds a selection somewhere.
func (g *generator) add(t *tree, s *selection) bool {
	return g.changeIn(t, isAny, func(list *[]*selection, i int) { *list = append(*list, s) })
}

func (g *generator) addSpread(t *tree, name string) bool {
	return g.add(t, &selection{name: name})
}

func (g *generator) addInline(t *tree, on string) bool {
	return g.add(t, &selection{isInline: true, on: on, selections: []*selection{g.meta("__typename", g.schema.Query)}})
}

// addVariable declares a variable, and uses it in a condition.
func (g *generator) addVariable(t *tree, kind, value string) bool {
	o := pick(g, t.operations...)
	o.isShort = false
	o.variables = append(o.variables, &variable{name: "new", kind: kind, value: value})
	if g.oneIn(2) && len(o.selections) > 0 {
		s := o.selections[0]
		s.directives = append(s.directives, "@include(if: $new)")
	}
	return true
}

func (g *generator) onOperation(t *tree, directive string) bool {
	o := pick(g, t.operations...)
	o.isShort = false
	o.directives = append(o.directives, directive)
	return true
}

// startSubscription makes the document one of a subscription.
func (g *generator) startSubscription(t *tree) {
	if t.operations[0].kind == "subscription" {
		return
	}
	*t = tree{}
	g.tree, g.operation, g.fields = t, &operation{kind: "subscription"}, 4
	g.names, g.used = map[string]string{}, map[string]int{}
	g.operation.selections = []*selection{g.field(g.schema.Subscription, "", 0)}
	t.operations = []*operation{g.operation}
}
