//go:build ci

package graphqljs_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// generator writes valid documents within the server's limits, and documents with one fault.
//
// A response name stands for one field with the same arguments everywhere on a type, so fields
// always merge. Below an interface it also has the type's name, because the fields of different
// types do not merge.
type generator struct {
	*rand.Rand
	schema *ast.Schema
	data   *snapshot
	posts  []string // ids
	busy   []string // ids of posts with comments
	nodes  []string // ids of all types

	tree      *tree
	operation *operation
	names     map[string]string // response names, by type, field and arguments
	used      map[string]int
	fields    int // to write
	aliases   int
	isWild    bool // values may be of any type
}

func newGenerator(random *rand.Rand, schema *ast.Schema, data *snapshot) *generator {
	g := &generator{Rand: random, schema: schema, data: data}
	g.posts = slices.Sorted(maps.Keys(data.Posts))
	for _, id := range g.posts {
		if len(data.Posts[id]["oldest"].([]edge)) > 0 {
			g.busy = append(g.busy, id)
		}
	}
	// Equal seeds must write equal documents: maps have no order.
	for _, of := range []map[string]map[string]any{data.Users, data.Posts, data.Comments, data.Likes} {
		ids := slices.Sorted(maps.Keys(of))
		g.nodes = append(g.nodes, ids[:min(len(ids), 8)]...)
	}
	return g
}

// oneIn returns true with a probability of 1/n.
func (g *generator) oneIn(n int) bool { return g.IntN(n) == 0 }

func pick[T any](g *generator, of ...T) T { return of[g.IntN(len(of))] }

// next returns a document.
func (g *generator) next() *document {
	t := g.valid()
	fault := ""
	switch n := g.IntN(100); {
	case n < 28:
	case n < 66:
		f := faults[g.IntN(len(faults))]
		if f.do(g, t) {
			fault = f.rule
		}
	case n < 80:
		fault = "values"
		g.isWild = true
		t = g.valid()
		g.isWild = false
	case n < 85:
		fault = "request: " + g.wrongRequest(t)
	default:
		d := t.document(g.Rand, g.oneIn(2))
		d.Fault = "syntax: " + g.wrongSyntax(d)
		return d
	}
	d := t.document(g.Rand, g.oneIn(3))
	d.Fault = fault
	return d
}

// valid returns a valid document.
func (g *generator) valid() *tree {
	g.tree = &tree{}
	g.names, g.used, g.aliases = map[string]string{}, map[string]int{}, 0
	kind := "query"
	switch g.IntN(10) {
	case 0, 1:
		kind = "mutation"
	case 2:
		kind = "subscription"
	}
	operations := 1
	if g.oneIn(8) {
		operations = 2 + g.IntN(2)
	}
	for i := range operations {
		g.operation = &operation{kind: kind}
		if operations > 1 {
			kind = "query"
		}
		g.tree.operations = append(g.tree.operations, g.operation)
		g.fields = 3 + g.IntN(25)/operations
		if operations > 1 || g.oneIn(3) {
			g.operation.name = fmt.Sprintf("%s%d", pick(g, "Q", "query", "on", "_", "mutation"), i)
		}
		switch {
		case g.operation.kind == "mutation" && g.oneIn(4):
			g.createPost()
			g.tree.echoes = operations == 1
		case g.operation.kind == "mutation":
			for range 1 + g.IntN(2) {
				g.operation.selections = append(g.operation.selections, g.field(g.schema.Mutation, "", 0))
			}
		case g.operation.kind == "subscription":
			g.operation.selections = []*selection{g.field(g.schema.Subscription, "", 0)}
			if g.oneIn(3) {
				g.operation.selections = []*selection{{isInline: true, on: pick(g, "", "Subscription"), selections: g.operation.selections}}
			}
		case g.oneIn(10):
			g.introspection()
		default:
			g.operation.selections = g.selections(g.schema.Query, "", 0)
		}
		if o := g.operation; o.kind == "query" && operations == 1 && o.name == "" && len(o.variables) == 0 && g.oneIn(2) {
			o.isShort = true
		}
		if g.oneIn(30) && !g.operation.isShort {
			g.operation.description = g.description()
		}
	}
	if operations > 1 {
		name := g.tree.operations[g.IntN(operations)].name
		g.tree.name = &name
	} else if name := g.operation.name; name != "" && g.oneIn(2) {
		g.tree.name = &name
	}
	return g.tree
}

func (g *generator) description() string {
	return pick(g, `"a description"`, `"""a description"""`, `""`, "\"\"\"\n  two\n    lines\n\"\"\"")
}

// selections returns a selection set on a type.
func (g *generator) selections(of *ast.Definition, prefix string, depth int) (list []*selection) {
	for range 1 + g.IntN(4) {
		switch n := g.IntN(14); {
		case g.fields <= 0:
		case of.IsAbstractType() && n > 3:
			on := pick(g, g.schema.GetPossibleTypes(of)...)
			list = append(list, g.inline(on, on.Name+"_", depth))
		case n == 0:
			s := g.inline(of, prefix, depth)
			if g.oneIn(2) {
				s.on = ""
			}
			list = append(list, s)
		case n == 1 && len(of.Interfaces) > 0:
			list = append(list, &selection{isInline: true, on: "Node", directives: g.directives(), selections: []*selection{g.meta("id", of), g.meta("__typename", of)}})
		case n == 2:
			list = append(list, g.spread(of, prefix, depth))
		case n == 3:
			s := g.meta("__typename", of)
			if g.aliases < 25 && g.oneIn(3) {
				g.aliases++
				s.alias = fmt.Sprintf("type%d", g.IntN(3))
			}
			s.directives = g.directives()
			list = append(list, s)
		default:
			list = append(list, g.field(of, prefix, depth))
		}
	}
	if len(list) == 0 {
		list = append(list, g.meta("__typename", of))
	}
	return list
}

// meta returns a field of an object or an interface without an alias.
func (g *generator) meta(name string, of *ast.Definition) *selection {
	return &selection{name: name, of: of, field: of.Fields.ForName(name)}
}

func (g *generator) inline(on *ast.Definition, prefix string, depth int) *selection {
	return &selection{isInline: true, on: on.Name, directives: g.directives(), selections: g.selections(on, prefix, depth)}
}

// spread returns a spread of a new fragment.
func (g *generator) spread(of *ast.Definition, prefix string, depth int) *selection {
	f := &fragment{name: fmt.Sprintf("%s%d", pick(g, "F", "fragment", "type", "true"), len(g.tree.fragments)), on: of.Name}
	g.tree.fragments = append(g.tree.fragments, f)
	f.selections = g.selections(of, prefix, depth)
	if g.oneIn(25) {
		f.description = g.description()
	}
	return &selection{name: f.name, directives: g.directives()}
}

func (g *generator) directives() (list []string) {
	if !g.oneIn(6) {
		return nil
	}
	for _, name := range pick(g, []string{"skip"}, []string{"include"}, []string{"include", "skip"}) {
		value := pick(g, "true", "false")
		if name == "skip" && g.oneIn(2) {
			value = "false"
		}
		if g.oneIn(2) {
			value = g.condition(value)
		}
		list = append(list, fmt.Sprintf("@%s(if: %s)", name, value))
	}
	return list
}

// condition returns a variable with a value of Boolean.
func (g *generator) condition(value string) string {
	switch g.IntN(5) {
	case 0:
		return g.variable("Boolean", value, "")
	case 1:
		return g.variable("Boolean!", value, "")
	case 2:
		return g.variable("Boolean", pick(g, "true", "false"), value)
	}
	return g.variable("Boolean!", "", value)
}

// variable declares a variable of the operation, with a default and a value, which may be empty.
func (g *generator) variable(kind, standard, value string) string {
	name := fmt.Sprintf("%s%d", pick(g, "v", "true", "on", "_", "null"), len(g.operation.variables))
	if i := len(g.tree.operations); i > 1 {
		name += fmt.Sprintf("_%d", i)
	}
	v := &variable{name: name, kind: kind, standard: standard, value: value}
	if g.oneIn(40) {
		v.description = g.description()
	}
	g.operation.variables = append(g.operation.variables, v)
	return "$" + name
}

const maxDepth = 8

// field returns a field of a type.
func (g *generator) field(of *ast.Definition, prefix string, depth int) *selection {
	field := pick(g, of.Fields...)
	for strings.HasPrefix(field.Name, "__") || field.Name == "deleteUser" {
		field = pick(g, of.Fields...)
	}
	result := g.schema.Types[field.Type.Name()]
	if depth > 0 && result.IsCompositeType() && (depth > maxDepth || g.fields <= 0) {
		return g.meta("__typename", of)
	}
	g.fields--
	s := &selection{name: field.Name, of: of, field: field, arguments: g.arguments(of, field, depth), directives: g.directives()}
	if of == g.schema.Subscription {
		s.directives = nil
	}
	g.giveName(s, prefix)
	if result.IsCompositeType() {
		s.selections = g.selections(result, "", depth+1)
	}
	return s
}

// giveName gives a field its response name.
func (g *generator) giveName(s *selection, prefix string) {
	var text strings.Builder
	for _, a := range s.arguments {
		fmt.Fprintf(&text, "%s:%s,", a.name, a.value)
	}
	base := prefix + s.name
	if s.name == "id" {
		base = "id"
	}
	if g.oneIn(9) {
		base = pick(g, prefix+"a", prefix+"type", prefix+"__x", prefix+"null") + s.name
	}
	key := s.of.Name + "." + base + "(" + text.String()
	name := g.names[key]
	if name == "" {
		at := s.of.Name + " " + base
		name = base
		if n := g.used[at]; n > 0 {
			name += strconv.Itoa(n + 1)
		}
		g.used[at]++
		g.names[key] = name
	}
	if name != s.name || g.oneIn(20) {
		g.aliases++
		s.alias = name
	}
}

// arguments returns the arguments of a field: all that are required, and some of the others.
func (g *generator) arguments(of *ast.Definition, field *ast.FieldDefinition, depth int) (list []argument) {
	for _, a := range field.Arguments {
		var value any
		name := of.Name + "." + field.Name + "." + a.Name
		switch {
		case a.Name == "first":
			if depth == 0 && g.oneIn(4) {
				continue
			}
			value = pick(g, 1, 2, 3, 1, 2)
			if depth == 0 {
				value = pick(g, 1, 2, 3, 5, 20, 100, 101, -1, 2147483647)
			}
		case name == "Query.feed.after":
			if !g.oneIn(3) {
				continue
			}
			value = pick[any](g, pick(g, g.data.Feed...).Cursor, pick(g, g.data.Feed...).Cursor, "x", nil)
		case of == g.schema.Subscription && a.Name == "after":
			value = ""
		case a.Name == "after":
			if !g.oneIn(10) {
				continue
			}
			value = pick[any](g, "x", "", nil)
		case a.Name == "order":
			if g.oneIn(2) {
				continue
			}
			value = enum(pick(g, "NEWEST_FIRST", "OLDEST_FIRST"))
		case name == "Query.userByUsername.username":
			value = pick[any](g, "nobody", "", g.aUser()["username"], g.aUser()["username"], strings.ToUpper(g.aUser()["username"].(string)))
		case name == "Query.user.id":
			value = pick[any](g, g.aUser()["id"], g.aUser()["id"], g.aUser()["id"], "u_aaaaaaaaaaaaaaaaaaaaaaaaaa", "x", 5)
		case name == "Query.post.id":
			value = pick[any](g, pick(g, g.posts...), pick(g, g.posts...), pick(g, g.posts...), pick(g, g.nodes...), "x", -5)
		case of == g.schema.Subscription: // of a post, or of a comment of it: its stream begins with a message
			value = pick(g, g.busy...)
		case name == "Query.node.id":
			value = pick[any](g, pick(g, g.nodes...), pick(g, g.nodes...), "x", 123456789012345678)
		case name == "Query.nodes.ids":
			var ids []any
			for range g.IntN(4) {
				ids = append(ids, pick[any](g, pick(g, g.nodes...), pick(g, g.nodes...), pick(g, g.nodes...), "x", 7))
			}
			value = ids
		case name == "Query.tag.name":
			value = pick(g, pick(g, g.data.Tags...).Name, pick(g, g.data.Tags...).Name, "none", "Not", "é", "")
		case name == "Query.archive.month":
			value = pick(g, pick(g, g.data.Months...).Month, pick(g, g.data.Months...).Month, "1999-12", "1999-13", "é")
		case name == "Query.archiveMonths.before":
			if g.oneIn(2) {
				continue
			}
			value = pick[any](g, pick(g, g.data.Months...).Month, "x", nil)
		default: // inputs of mutations
			value = g.input(a.Type)
		}
		list = append(list, argument{a.Name, g.value(value, a.Type), a.Type})
	}
	if len(list) > 1 && g.oneIn(4) {
		slices.Reverse(list)
	}
	return list
}

func (g *generator) aUser() map[string]any {
	return g.data.Users[pick(g, slices.Sorted(maps.Keys(g.data.Users))...)]
}

// enum is the name of a value of an enum.
type enum string

// member is a field of an input object.
type member struct {
	name  string
	value any
}

// input returns a value of an input object of a mutation.
func (g *generator) input(of *ast.Type) (members []member) {
	for _, field := range g.schema.Types[of.Name()].Fields {
		if !field.Type.NonNull && g.oneIn(2) {
			continue
		}
		var value any
		switch {
		case !field.Type.NonNull && g.oneIn(5):
		case field.Name == "id" || field.Name == "postId":
			value = pick(g, g.nodes...)
		case field.Name == "version":
			value = pick(g, 1, 2, 2147483647, -1)
		case field.Name == "tags":
			var tags []any
			for range g.IntN(4) {
				tags = append(tags, pick[any](g, "go", "é", "cosmos-db", "42"))
			}
			value = tags
		default:
			value = pick(g, "Text", "  two  words ", "\U0001F600 é\u2028", "line\nline", "a \"quoted\" \\ text", "\"\"\"", "x", "\ttab")
		}
		members = append(members, member{field.Name, value})
	}
	if g.oneIn(4) {
		slices.Reverse(members)
	}
	return members
}

// createPost makes the operation create a post, all of whose answer follows from its input.
func (g *generator) createPost() {
	field := g.schema.Mutation.Fields.ForName("createPost")
	input := g.input(field.Arguments[0].Type)
	input = slices.DeleteFunc(input, func(m member) bool { return m.name == "idempotencyKey" })
	post := g.schema.Types["Post"]
	leaf := func(of, name string) *selection { return g.meta(name, g.schema.Types[of]) }
	selections := []*selection{leaf("Post", "title"), leaf("Post", "content"), leaf("Post", "contentLength"), leaf("Post", "version"),
		{name: "tags", of: post, field: post.Fields.ForName("tags"), selections: []*selection{leaf("Tag", "name")}}}
	g.Shuffle(len(selections), func(i, j int) { selections[i], selections[j] = selections[j], selections[i] })
	payload := g.schema.Types["CreatePostPayload"]
	g.operation.selections = []*selection{{name: "createPost", of: g.schema.Mutation, field: field,
		arguments:  []argument{{"input", g.value(input, field.Arguments[0].Type), field.Arguments[0].Type}},
		selections: []*selection{{name: "post", of: payload, field: payload.Fields.ForName("post"), selections: selections}}}}
}
