package graphqljs_test

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
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
			return g.addInline(t, "Unknown", false)
		case 1:
			t.fragments = append(t.fragments, &fragment{name: "New", on: "Unknown", selections: []*selection{g.meta("id", g.schema.Query)}})
			return g.addSpread(t, "New")
		}
		return g.addVariable(t, pick(g, "Unknown", "[Unknown!]!", "int", "__Unknown"), "null")
	}},
	{"FragmentsOnCompositeTypes", func(g *generator, t *tree) bool {
		on := pick(g, "String", "CommentOrder", "CreatePostInput", "DateTime", "__TypeKind")
		if g.oneIn(2) {
			return g.addInline(t, on, false)
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
			return g.addInline(t, on, false)
		}
		t.fragments = append(t.fragments, &fragment{name: "New", on: on, selections: []*selection{g.meta("__typename", g.schema.Query)}})
		return g.addSpread(t, "New")
	}},
	{"NoFragmentCycles", func(g *generator, t *tree) bool {
		if len(t.fragments) == 0 {
			return false
		}
		f := pick(g, t.fragments...)
		to := pick(g, t.fragments...)
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
		return g.change(t, func(s *selection) bool { return true }, func(s *selection) { s.directives = []string{"@include(if: $undefined)"} })
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
		return g.change(t, func(*selection) bool { return true }, func(s *selection) { s.directives = append(s.directives, name) })
	}},
	{"UniqueDirectivesPerLocation", func(g *generator, t *tree) bool {
		return g.change(t, func(*selection) bool { return true }, func(s *selection) {
			s.directives = append(s.directives, pick(g, []string{"@skip(if: false)", "@skip(if: false)"}, []string{"@include(if: true)", "@skip(if: false)", "@include(if: false)"})...)
		})
	}},
	{"KnownArgumentNames", func(g *generator, t *tree) bool {
		if g.oneIn(3) {
			return g.change(t, func(*selection) bool { return true }, func(s *selection) {
				s.directives = []string{pick(g, "@skip(if: false, unless: true)", "@include(unless: true)", "@include(If: true)")}
			})
		}
		return g.change(t, isField, func(s *selection) {
			s.arguments = append(s.arguments, argument{name: pick(g, "unknown", "First", "id", "first", "input", "if"), value: pick(g, "1", `"x"`, "null", "{}")})
		})
	}},
	{"UniqueArgumentNames", func(g *generator, t *tree) bool {
		if g.oneIn(3) {
			return g.change(t, func(*selection) bool { return true }, func(s *selection) { s.directives = []string{"@skip(if: false, if: false)"} })
		}
		return g.change(t, hasArguments, func(s *selection) { s.arguments = append(s.arguments, s.arguments[0]) })
	}},
	{"ValuesOfCorrectType", func(g *generator, t *tree) bool {
		if g.oneIn(5) {
			return g.change(t, func(*selection) bool { return true }, func(s *selection) {
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
			return g.change(t, func(*selection) bool { return true }, func(s *selection) { s.directives = []string{pick(g, "@skip", "@include")} })
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
		return g.change2(t, isField, func(list *[]*selection, i int) {
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

func isField(s *selection) bool      { return s.of != nil }
func hasArguments(s *selection) bool { return len(s.arguments) > 0 }

// change2 calls do for one of the selections.
func (g *generator) change2(t *tree, isPossible func(*selection) bool, do func(list *[]*selection, i int)) bool {
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
	return g.change2(t, isPossible, func(list *[]*selection, i int) { do((*list)[i]) })
}

// add adds a selection somewhere.
func (g *generator) add(t *tree, s *selection) bool {
	return g.change2(t, func(*selection) bool { return true }, func(list *[]*selection, i int) { *list = append(*list, s) })
}

func (g *generator) addSpread(t *tree, name string) bool {
	return g.add(t, &selection{name: name, in: g.schema.Query})
}

func (g *generator) addInline(t *tree, on string, isEmpty bool) bool {
	s := &selection{isInline: true, on: on, in: g.schema.Query}
	if !isEmpty {
		s.selections = []*selection{g.meta("__typename", g.schema.Query)}
	}
	return g.add(t, s)
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

// wrongRequest changes what is sent beside the document.
func (g *generator) wrongRequest(t *tree) string {
	switch g.IntN(5) {
	case 0:
		name := pick(g, "Unknown", "", "query", "Q0")
		t.name = &name
		return "operationName"
	case 1:
		if len(t.operations) > 1 {
			t.name = nil
		}
		return "no operationName"
	case 2:
		t.more = append(t.more, pick(g, `"undeclared":1`, `"undeclared":1e400`, `"undeclared":{"a":[null]}`, `"":1`, `"$v0":1`))
		return "undeclared variable"
	case 3:
		for _, o := range t.operations {
			for _, v := range o.variables {
				if g.oneIn(2) {
					v.value = g.wildJSON()
				}
			}
		}
		return "wrong variable"
	}
	for _, o := range t.operations {
		for _, v := range o.variables {
			if g.oneIn(2) {
				v.value = pick(g, "", "null")
			}
		}
	}
	return "missing variable"
}

var token = regexp.MustCompile(`"""(?s:.*?)"""|"(?:[^"\\\n]|\\.)*"|\.\.\.|[A-Za-z_][A-Za-z_0-9]*|-?[0-9][0-9.eE+-]*|[!$&():=@\[\]{|}]|#[^\n]*`)

// wrongSyntax changes the text of a document, and returns what it did.
func (g *generator) wrongSyntax(d *document) string {
	places := token.FindAllStringIndex(d.Query, -1)
	p := places[g.IntN(len(places))]
	before, text, after := d.Query[:p[0]], d.Query[p[0]:p[1]], d.Query[p[1]:]
	control := string(rune(pick(g, 0, 1, 7, 8, 0xb, 0xc, 0x1f, 0x7f, 0x80, 0x9f, 0xa0, 0x2028, 0xfeff, 0xfffe, 0xffff, 0x1fffe)))
	switch g.IntN(9) {
	case 0:
		d.Query = before + after
		return "no " + text
	case 1:
		d.Query = before + text + " " + text + after
		return "twice " + text
	case 2:
		other := places[g.IntN(len(places))]
		d.Query = before + d.Query[other[0]:other[1]] + " " + after
		return "other token"
	case 3:
		punctuation := pick(g, "!", "$", "&", "(", ")", "...", ":", "=", "@", "[", "]", "{", "|", "}", ".", "..", "?", "%", "'", "\\", "~", "é", "\U0001F600", "-", "+", "/", "<", ";", "`", "^", "*")
		d.Query = before + pick(g, punctuation+" "+text, text+" "+punctuation, text+punctuation) + after
		return "punctuation " + punctuation
	case 4: // white space and control characters
		d.Query = before + text + control + after
		return fmt.Sprintf("character %U", []rune(control)[0])
	case 5:
		d.Query = before + pick(g, "# a"+control+"b\n", "#"+control+"\r", "# no end of line ", "#\n#\r\n") + text + after
		return fmt.Sprintf("comment with %U", []rune(control)[0])
	}
	value := g.oddValue(control)
	root := pick(g, `tag(name: %s) { name }`, `tags(first: %s) { __typename }`, `node(id: %s) { id }`, `archive(month: %s) { month }`)
	d.Kind, d.OperationName, d.Variables, d.Introspects, d.Echoes = "query", nil, "", false, false
	d.Query = "{ " + fmt.Sprintf(root, value) + " }"
	return "value " + value
}

// oddValue is a literal, or nearly one.
func (g *generator) oddValue(control string) string {
	return pick(g,
		"00", "01", "-01", "-0", "0", "1.", ".5", "-.5", "0xF", "1a", "1_000", "1e", "1e+", "1.0e5", "1.e5", "1.0.0", "+1", "--1", "1e5f", "0.0", "0e0", "5.x", "1\"a\"", "1{", "1$x", "-", "1...", "1e1.5", "3 000",
		`"a`+control+`b"`, `"""a`+control+`b"""`, `"""`+control+`"""`, `"go" "go"`, `"""go""""""go"""`,
		`"\u{67}o"`, `"\u{1F600}"`, `"\u{}"`, `"\u{110000}"`, `"\u{10FFFF}"`, `"\u{D800}"`, `"\u{D83D}\u{DE00}"`, `"\u{000000000067}o"`, `"\u{67"`, `"\u{g}"`, `"\u{ 67}"`,
		`"\uD83D\uDE00"`, `"\uD83D"`, `"\uDE00"`, `"\uDE00\uD83D"`, `"\uD83Dx"`, `"\u00"`, `"\u00zz"`, `"\U0001"`, `"\a"`, `"\v"`, `"\'"`, `"\x41"`, `"\b\f\n\r\t\/\\\""`, `"\`, `"\"`,
		`"a`, "\"a\nb\"", "\"a\rb\"", "\"\"\"a", `"""a\"""b"""`, `"""\"""`, `"""\n"""`, `"""\u0067o"""`, `"""go"""`, "\"\"\"\n  go\n\"\"\"", "\"\"\"\n    go\n  \"\"\"", "\"\"\"go\n\"\"\"", "\"\"\"\r\n\tgo\r\"\"\"",
		"\"\"\"\n\n  a\n\n    b\n c\n\n\"\"\"", "\"\"\"a\n  b\n   c\"\"\"", "\"\"\"\n\ta\n  b\"\"\"", "\"\"\"  a  \"\"\"", "\"\"\"\n\u00a0a\"\"\"", "\"\"\"\u2028a\n b\"\"\"", `""""""`, `"" ""`, `"""a""`, `"""a""""`,
		"'go'", "`go`", "$", "$x", "@x", "null", "true", "True", "go", "é", "_", "__x", "[", "[]", "[1 2]", "[1,,2,]", "{", "{}", "{a:1 b:2}", "{a:1,,b:2,}", "{a}", "{:1}", "{1:1}", "{\"a\":1}", "...", "#x\n1", "-1", "- 1", "-a",
		"\"\U0001F600\"", "\"é\"", "\"\u0085\"", "\"\"\"\u0085a\n b\"\"\"")
}

// introspection adds selections of the schema to the operation.
func (g *generator) introspection() {
	g.tree.introspect = true
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

// metaSelections returns a selection set on a type of the introspection. Lists within lists are few,
// because both sides have limits for them.
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
