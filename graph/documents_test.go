package graph_test

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"cosmosblog/graph"
)

// documents writes random valid documents, with aliases, fragments within fragments, fields that
// are selected several times, and directives whose conditions are variables.
//
// A response name stands for one field with the same arguments everywhere on a type, so fields
// always merge. On an interface, it also has the type's name, because the fields of different types
// do not merge.
type documents struct {
	*rand.Rand
	schema *ast.Schema
	ids    map[string][]string // by type

	left      int  // fields to write
	long      bool // one field is repeated many times
	fragments []fragment
	used      map[string]bool // variables
}

// fragment is a fragment of the document.
type fragment struct{ on, prefix, text string }

// variables are the variables of all documents.
var variables = map[string]any{"yes": true, "no": false, "few": 3}

// next returns a document.
func (d *documents) next() string {
	d.left, d.long, d.fragments, d.used = 3+d.IntN(60), false, nil, map[string]bool{}
	kind, body := "query", ""
	if d.IntN(8) > 0 {
		body = d.selections(graphSchema.Query, "", 0)
	} else {
		kind, body = "mutation", d.mutation()
	}
	var declared, fragments []string
	for _, name := range []string{"yes", "no", "few"} {
		if d.used[name] {
			declared = append(declared, fmt.Sprintf("$%s: %s", name, map[bool]string{true: "Int", false: "Boolean!"}[name == "few"]))
		}
	}
	for i, f := range d.fragments {
		fragments = append(fragments, fmt.Sprintf(" fragment F%d on %s %s", i, f.on, f.text))
	}
	if len(declared) > 0 {
		kind += " (" + strings.Join(declared, ", ") + ")"
	}
	return kind + " " + body + strings.Join(fragments, "")
}

var graphSchema = graph.NewExecutableSchema(graph.Config{}).Schema()

// mutation returns a selection of a mutation that has the same result if it is repeated.
func (d *documents) mutation() string {
	name := []string{"likePost", "unlikePost", "createUser"}[d.IntN(3)]
	input := fmt.Sprintf("postId: %q", d.id("Post"))
	if name == "createUser" {
		input = `username: "Viewer"`
	}
	of := graphSchema.Types[graphSchema.Mutation.Fields.ForName(name).Type.Name()]
	return fmt.Sprintf("{ %s(input: {%s}) %s }", name, input, d.selections(of, "", 1))
}

// selections returns a selection set on a type. prefix begins all response names but "id".
func (d *documents) selections(of *ast.Definition, prefix string, depth int) string {
	text := "{ "
	for range 1 + d.IntN(7) {
		switch n := d.IntN(12); {
		case n < 2 && of.IsAbstractType() && !d.long:
			// Each type has a selection of this length, for which graph.Selections has no room.
			text += strings.Repeat("id ", 100+d.IntN(300))
			d.long = true
		case of.IsAbstractType() && n > 2:
			possible := d.schema.GetPossibleTypes(of)
			text += d.inline(possible[d.IntN(len(possible))], depth)
		case n == 0:
			text += "..." + d.directives() + d.selections(of, prefix, depth)
		case n == 1 && len(of.Interfaces) > 0:
			text += "... on Node" + d.directives() + "{ id __typename }"
		case n == 2:
			text += d.spread(of, prefix, depth)
		case n == 3:
			text += fmt.Sprintf("type%d: __typename", d.IntN(3)) + d.directives()
		default:
			text += d.field(of, prefix, depth)
		}
		text += " "
	}
	return text + "__typename" + d.directives() + "}"
}

// inline returns an inline fragment on a possible type of an interface.
func (d *documents) inline(of *ast.Definition, depth int) string {
	return "... on " + of.Name + d.directives() + d.selections(of, of.Name+"_", depth)
}

// spread returns a spread of a fragment, which may be new.
func (d *documents) spread(of *ast.Definition, prefix string, depth int) string {
	for i, f := range d.fragments {
		if f.on == of.Name && f.prefix == prefix && f.text != "" && d.IntN(2) == 0 {
			return fmt.Sprintf("...F%d", i) + d.directives()
		}
	}
	i := len(d.fragments)
	d.fragments = append(d.fragments, fragment{on: of.Name, prefix: prefix}) // without text, so it cannot spread itself
	d.fragments[i].text = d.selections(of, prefix, depth)
	return fmt.Sprintf("...F%d", i) + d.directives()
}

func (d *documents) directives() string {
	if d.IntN(4) > 0 {
		return " "
	}
	use := func(name string) string {
		d.used[name] = true
		return "$" + name
	}
	switch d.IntN(7) {
	case 0:
		return " @skip(if: " + use("yes") + ") "
	case 1:
		return " @skip(if: " + use("no") + ") "
	case 2:
		return " @include(if: " + use("yes") + ") "
	case 3:
		return " @include(if: " + use("no") + ") "
	case 4:
		return " @include(if: false) "
	case 5:
		return " @include(if: " + use("yes") + ") @skip(if: " + use("no") + ") "
	}
	return " @skip(if: false) "
}

const maxDocumentDepth = 14

// field returns a field.
func (d *documents) field(of *ast.Definition, prefix string, depth int) string {
	field := of.Fields[d.IntN(len(of.Fields))]
	result := d.schema.Types[field.Type.Name()]
	if strings.HasPrefix(field.Name, "__") || result.IsCompositeType() && (depth > maxDocumentDepth || d.left <= 0) {
		return "__typename"
	}
	d.left--
	variant := d.IntN(3) / 2 // with other arguments
	name := fmt.Sprintf("%s%s%s", prefix, field.Name, []string{"", "2"}[variant])
	text := field.Name
	if name != field.Name {
		text = name + ": " + field.Name
	}
	text += d.arguments(field, variant) + d.directives()
	if result.IsCompositeType() {
		text += d.selections(result, "", depth+1)
	}
	return text
}

// arguments returns the arguments of a variant of a field.
func (d *documents) arguments(field *ast.FieldDefinition, variant int) string {
	switch {
	case field.Name == "userByUsername":
		return `(username: "viewer")`
	case field.Name == "tag" && len(field.Arguments) > 0:
		return []string{`(name: "go")`, `(name: "none")`}[variant]
	case field.Name == "archive" && len(field.Arguments) > 0:
		return []string{`(month: "2026-11")`, `(month: "1999-12")`}[variant]
	case field.Name == "nodes" && len(field.Arguments) > 0:
		var ids []string
		for _, name := range []string{"User", "Post", "Comment", "Like"} {
			ids = append(ids, fmt.Sprintf("%q", d.ids[name][variant]))
		}
		return "(ids: [" + strings.Join(append(ids, `"x"`, `"u_aaaaaaaaaaaaaaaaaaaaaaaaaa"`), ", ") + "])"
	case field.Name == "node" && len(field.Arguments) > 0:
		return fmt.Sprintf("(id: %q)", d.ids[[]string{"Comment", "Like"}[variant]][0])
	case field.Name == "user" && len(field.Arguments) > 0:
		return fmt.Sprintf("(id: %q)", d.ids["User"][variant])
	case field.Name == "post" && len(field.Arguments) > 0:
		return fmt.Sprintf("(id: %q)", d.ids["Post"][variant])
	case field.Arguments.ForName("first") == nil:
		return ""
	case variant == 0:
		d.used["few"] = true
		return "(first: $few)"
	case field.Arguments.ForName("order") != nil:
		return "(first: 4, order: NEWEST_FIRST)"
	}
	return "(first: 1)"
}

// id returns an id of a type.
func (d *documents) id(of string) string { return d.ids[of][d.IntN(len(d.ids[of]))] }
