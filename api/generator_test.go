package api_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"cosmosblog/graph"
	"cosmosblog/proof/testseed"
)

// generator writes queries that mostly match the schema, with occasional errors.
type generator struct {
	*rand.Rand
	schema    *ast.Schema
	known     []string // existing ids
	fragments []string // their definitions
	variables map[string]string
	fields    int // how many more fields to write
}

func newGenerator(s *site, random *rand.Rand) *generator {
	return &generator{
		Rand: random, schema: graph.NewExecutableSchema(graph.Config{}).Schema(), variables: map[string]string{}, fields: 5 + random.IntN(60),
		known: []string{s.post, s.deletedPost, s.comment, s.orphanedComment, s.like},
	}
}

// oneIn returns true with a probability of 1/n.
func (g *generator) oneIn(n int) bool { return g.IntN(n) == 0 }

func pick[T any](g *generator, of ...T) T { return of[g.IntN(len(of))] }

// request returns the body of a request.
func (g *generator) request() string {
	kind, root := "query", g.schema.Query
	if g.oneIn(4) {
		kind, root = "mutation", g.schema.Mutation
	}
	selections := g.selections(root, 0)
	var definitions, values []string
	for name, kind := range g.variables {
		definitions = append(definitions, fmt.Sprintf("$%s:%s", name, kind))
		if !g.oneIn(5) {
			values = append(values, fmt.Sprintf("%q:%s", name, g.json(kind)))
		}
	}
	declared := ""
	if len(definitions) > 0 {
		declared = "(" + strings.Join(definitions, " ") + ")"
	}
	query := kind + " Q" + declared + selections + strings.Join(g.fragments, " ")
	return `{"query":` + quoted(query) + `,"variables":{` + strings.Join(values, ",") + `}}`
}

// selections returns a selection set on a type.
func (g *generator) selections(of *ast.Definition, depth int) string {
	var b strings.Builder
	b.WriteString("{__typename ")
	for range 1 + g.IntN(5) {
		switch {
		case g.fields <= 0:
		case g.oneIn(8):
			fmt.Fprintf(&b, "...on %s%s%s ", g.typeNear(of).Name, g.directives(), g.selections(g.typeNear(of), depth+1))
		case g.oneIn(12):
			name, at := fmt.Sprintf("F%d", len(g.fragments)), len(g.fragments)
			g.fragments = append(g.fragments, "")
			g.fragments[at] = fmt.Sprintf("fragment %s on %s%s", name, of.Name, g.selections(of, depth+1))
			fmt.Fprintf(&b, "...%s%s ", name, g.directives())
		default:
			b.WriteString(g.field(of, depth))
		}
	}
	return b.String() + "}"
}

// typeNear returns a type that a fragment on the given type can usually name.
func (g *generator) typeNear(of *ast.Definition) *ast.Definition {
	if types := g.schema.GetPossibleTypes(of); len(types) > 0 && !g.oneIn(10) {
		return pick(g, types...)
	}
	return pick(g, of, g.schema.Types["Node"], g.schema.Types["Post"])
}

func (g *generator) field(of *ast.Definition, depth int) string {
	if len(of.Fields) == 0 {
		return "id "
	}
	g.fields--
	field := pick(g, of.Fields...)
	if strings.HasPrefix(field.Name, "__") && !g.oneIn(5) || field.Name == "deleteUser" || depth > 12 {
		return "__typename "
	}
	var b strings.Builder
	if g.oneIn(10) {
		fmt.Fprintf(&b, "a%d:", g.IntN(4))
	}
	b.WriteString(field.Name)
	var arguments []string
	for _, argument := range field.Arguments {
		if argument.Type.NonNull && !g.oneIn(30) || g.oneIn(3) {
			arguments = append(arguments, argument.Name+":"+g.value(argument.Type, 0))
		}
	}
	if len(arguments) > 0 {
		b.WriteString("(" + strings.Join(arguments, " ") + ")")
	}
	b.WriteString(g.directives())
	if result := g.schema.Types[field.Type.Name()]; result.IsCompositeType() && !g.oneIn(40) {
		b.WriteString(g.selections(result, depth+1))
	}
	return b.String() + " "
}

func (g *generator) directives() string {
	switch {
	case !g.oneIn(15):
		return ""
	case g.oneIn(20):
		return pick(g, "@include(if:$b)", "@deprecated", "@include(if:1)", "@defer", "@skip")
	}
	return pick(g, "@include(if:true)", "@skip(if:false)", "@skip(if:true)@include(if:false)") + " "
}

// value returns a literal of a type, or a new variable of that type.
func (g *generator) value(of *ast.Type, depth int) string {
	if g.oneIn(6) {
		name := fmt.Sprintf("v%d", len(g.variables))
		g.variables[name] = of.String()
		return "$" + name
	}
	definition := g.schema.Types[of.Name()]
	switch {
	case g.oneIn(25):
		return pick(g, "null", "5", `"x"`, "[]", "{}", "X", "1e400", "$unknown", `"""a"""`)
	case of.Elem != nil:
		var list []string
		for range g.IntN(4) {
			list = append(list, g.value(of.Elem, depth+1))
		}
		return "[" + strings.Join(list, " ") + "]"
	case definition.Kind == ast.InputObject:
		var members []string
		for _, member := range definition.Fields {
			if member.Type.NonNull || g.oneIn(2) {
				members = append(members, member.Name+":"+g.value(member.Type, depth+1))
			}
		}
		return "{" + strings.Join(members, " ") + "}"
	case definition.Kind == ast.Enum:
		return definition.EnumValues[g.IntN(len(definition.EnumValues))].Name
	}
	return g.json(of.Name())
}

// json returns a value of a type in a form that is valid in JSON and in GraphQL.
func (g *generator) json(kind string) string {
	switch kind = strings.TrimRight(kind, "!"); kind {
	case "Int":
		return pick(g, "1", "2", "3", "100", "0", "101", "-1", "2147483647", "1.5")
	case "ID":
		return quoted(pick(g, append(g.known, "", "x", "u_aaaaaaaaaaaaaaaaaaaaaaaaaa")...))
	case "Boolean":
		return pick(g, "true", "false", "null")
	case "String":
		return quoted(pick(g, append(g.known, "Ann", "Bob", "x", "", strings.Repeat("é", 300), "😀")...))
	}
	if definition := g.schema.Types[kind]; definition != nil && definition.Kind == ast.Enum {
		return quoted(definition.EnumValues[g.IntN(len(definition.EnumValues))].Name)
	}
	if strings.HasPrefix(kind, "[") {
		return "[" + g.json(strings.Trim(kind, "[]!")) + "]"
	}
	var members []string
	if definition := g.schema.Types[kind]; definition != nil {
		for _, member := range definition.Fields {
			members = append(members, quoted(member.Name)+":"+g.json(member.Type.Name()))
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

// FuzzGenerated sends a generated request for each seed.
func FuzzGenerated(f *testing.F) {
	for seed := range uint64(300) {
		f.Add(seed)
	}
	s := fuzzSite{newSite(f, true)}
	f.Fuzz(func(t *testing.T, seed uint64) {
		body := newGenerator(s.site, rand.New(rand.NewPCG(seed, 1))).request()
		s.check(t, body, s.sendBody(body))
	})
}

// TestGenerated sends 300 generated requests, with a new seed in each run.
func TestGenerated(t *testing.T) {
	t.Parallel()
	seed := testseed.Of(t)
	s := fuzzSite{newSite(t, true)}
	executed := 0
	for i := range uint64(300) {
		body := newGenerator(s.site, rand.New(rand.NewPCG(seed+i, 1))).request()
		if r := s.check(t, body, s.sendBody(body)); r.Code == 200 {
			executed++
		}
	}
	t.Logf("%d of 300 were executed", executed)
	if executed < 50 {
		t.Error("too few were executed")
	}
}
