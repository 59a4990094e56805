package price

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator"

	"cosmosblog/blog"
	"cosmosblog/guard/limits"
)

// referencePrice is List.Price without a formula: it computes the price while it walks the fields.
func referencePrice(l List, operation *graphql.OperationContext, maxFields int) Price {
	root := l["Query"]
	if operation.Operation.Operation == ast.Mutation {
		root = l["Mutation"]
	}
	c := calculation{operation: operation, maxFields: maxFields}
	total := c.selection(operation.Operation.SelectionSet, root, enclosing{listSize: 1}).times(1)
	p := Price{RU: rounded(total.ru), Elements: total.elements, Fields: c.fields, MostExpensive: total.mostExpensive}
	p.MostExpensive.RU = rounded(p.MostExpensive.RU)
	return p
}

// calculation is the state of one call to referencePrice.
type calculation struct {
	operation *graphql.OperationContext
	maxFields int
	fields    int // counted so far
}

// enclosing describes the field that returns the objects of a selection.
type enclosing struct {
	listSize float64 // of the nearest list argument; connections pass it on to their nodes and edges
	whole    bool    // the objects are whole items or lead to them, so fields with needsWhole read nothing more
	entries  bool    // the objects are entries or lead to them, so fields with notInEntries read their items
}

// selection returns the cost of a selection for one object of the type. If the object can be of
// several types, each part of the cost is that of the most expensive type. It visits the same
// fields as gqlgen's execution.
func (c *calculation) selection(selections ast.SelectionSet, of *pricedType, e enclosing) cost {
	var highest cost
	for _, object := range of.possible {
		var total cost
		for _, field := range graphql.CollectFields(c.operation, selections, object.satisfies) {
			if c.fields++; c.fields > c.maxFields {
				return highest
			}
			if priced := object.fields[field.Name]; priced != nil { // introspection has no price
				total = total.plus(c.field(field, priced, e, slices.Contains(object.satisfies, "Node")))
			}
		}
		highest = highest.max(total)
	}
	return highest
}

// field returns the cost of a field and its subfields for one object.
func (c *calculation) field(field graphql.CollectedField, priced *pricedField, e enclosing, isItem bool) cost {
	below := enclosing{listSize: e.listSize, whole: priced.returnsWhole}
	if isItem && !e.whole && !priced.needsWhole {
		below.whole = false
	}
	if !isItem && e.whole {
		below.whole = true
	}
	below.entries = priced.returnsEntries || !isItem && e.entries && !below.whole
	below.whole = below.whole && !below.entries
	hasSize := priced.sizeArgument != "" || priced.defaultSize != 0
	if hasSize {
		below.listSize = c.listSize(field, priced)
	}
	total := c.subfields(field, priced, below)
	text := priced.perKiB / 1024 * textBytes(field.ArgumentMap(c.operation.Variables))
	own := FieldPrice{priced.name, field.Field, priced.ru + priced.element*below.listSize + text}
	total = total.plus(cost{ru: own.RU, mostExpensive: own})
	if hasSize {
		total.elements += below.listSize
	}
	if priced.read != nil && !(priced.needsWhole && e.whole) && (e.entries || !priced.notInEntries) {
		batched := batchedField{priced.read, FieldPrice{Name: priced.name, Field: field.Field}, 1}
		total = total.plus(cost{batched: []batchedField{batched}})
	}
	return total
}

// subfields returns the cost of a field's selection for all objects that the field returns.
func (c *calculation) subfields(field graphql.CollectedField, priced *pricedField, e enclosing) cost {
	if priced.returns == nil {
		return cost{}
	}
	each := c.selection(field.Selections, priced.returns, e)
	switch {
	case priced.isList && priced.sizeArgument == "" && priced.defaultSize != 0:
		return each.scaled(e.listSize)
	case priced.isList:
		return each.times(e.listSize)
	case priced.endsBatch:
		return each.times(1)
	}
	return each
}

// listSize returns the maximum length of a field's list. It replaces sizes that no page can have
// by the nearest valid size, because the resolver rejects them before it reads the list.
func (c *calculation) listSize(field graphql.CollectedField, priced *pricedField) float64 {
	argument := field.Arguments.ForName(priced.sizeArgument)
	if argument == nil {
		return priced.defaultSize
	}
	value, err := argument.Value.Value(c.operation.Variables)
	if err != nil {
		return blog.MaxPageSize
	}
	return max(1, min(sizeOf(value, priced.defaultSize), blog.MaxPageSize))
}

// checkReference compares the prices of an operation: by the reference, fresh, and by a formula
// that the operation shares with others.
func checkReference(t *testing.T, operation *graphql.OperationContext, formula *Formula, maxFields int) {
	t.Helper()
	want := referencePrice(list, operation, maxFields)
	if got := list.Price(operation, maxFields); got != want {
		t.Errorf("the price is %+v, want %+v", got, want)
	}
	if formula != nil {
		if got := formula.Price(operation.Variables); got != want {
			t.Errorf("with %v, the formula's price is %+v, want %+v", operation.Variables, got, want)
		}
	}
}

// randomQuery writes a query of random fields, with values in the text and in the variables $n, $m
// and $ids. If conditional is true, some fields depend on $yes.
type randomQuery struct {
	*rand.Rand
	conditional bool
	left        int // fields
	fragments   strings.Builder
	count       int // of the fragments
}

func (q *randomQuery) query() string {
	body, declared := q.selections(schema.Query), ""
	if q.conditional {
		declared = ",$yes:Boolean!"
	}
	return "query($n:Int=7,$m:Int,$ids:[ID!]!" + declared + "){a:nodes(ids:$ids){id} b:feed(first:$n){nodes{id}} c:feed(first:$m){nodes{id}} d:feed@skip(if:" +
		q.condition() + "){nodes{id}}" + body[1:] + q.fragments.String()
}

func (q *randomQuery) condition() string {
	if q.conditional {
		return "$yes"
	}
	return []string{"true", "false"}[q.IntN(2)]
}

func (q *randomQuery) selections(of *ast.Definition) string {
	var b strings.Builder
	b.WriteString("{__typename ")
	for range 1 + q.IntN(4) {
		types := schema.GetPossibleTypes(of)
		switch n := q.IntN(12); {
		case n == 0:
			on := types[q.IntN(len(types))]
			fmt.Fprintf(&b, "...on %s@include(if:%s)%s ", on.Name, q.condition(), q.selections(on))
		case n == 1:
			name := fmt.Sprint("F", q.count)
			q.count++
			text := fmt.Sprintf(" fragment %s on %s%s", name, of.Name, q.selections(of))
			q.fragments.WriteString(text)
			fmt.Fprintf(&b, "...%s ...%s ", name, name)
		default:
			b.WriteString(q.field(of))
		}
	}
	return b.String() + "}"
}

func (q *randomQuery) field(of *ast.Definition) string {
	field := of.Fields[q.IntN(len(of.Fields))]
	returns := schema.Types[field.Type.Name()]
	if q.left--; strings.HasPrefix(field.Name, "__") || q.left < 0 && returns.IsCompositeType() {
		return ""
	}
	q.count++
	var arguments []string
	for _, a := range field.Arguments {
		switch value := ""; {
		case a.Name == "first" && q.IntN(3) > 0:
			value = []string{"$n", "$m", "1", "33", "null", "-1", "999"}[q.IntN(7)]
			arguments = append(arguments, "first:"+value)
		case a.Name == "ids":
			value = []string{"$ids", `"x"`, `["x","y","z"]`, "[]"}[q.IntN(4)]
			arguments = append(arguments, "ids:"+value)
		case a.Type.NonNull:
			arguments = append(arguments, a.Name+`:"x"`)
		}
	}
	text := fmt.Sprintf("a%d:%s", q.count, field.Name)
	if len(arguments) > 0 {
		text += "(" + strings.Join(arguments, ",") + ")"
	}
	if returns.IsCompositeType() {
		text += q.selections(returns)
	}
	return text + " "
}

// TestFormula compares the prices of random documents with the reference, each with several values
// of the variables.
func TestFormula(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Log("seed", seed)
	formulas, expensive := 0, 0
	for n := range 600 {
		q := randomQuery{Rand: rand.New(rand.NewPCG(seed, uint64(n))), conditional: n%4 == 0, left: 5 + n%40}
		text := q.query()
		parsed := parseOperation(text, map[string]any{"ids": "x", "yes": true})
		if parsed == nil {
			t.Fatalf("the query is invalid: %s", text)
		}
		formula := list.Prepare(parsed.Doc, parsed.Operation, limits.Default().Spread)
		if (formula == nil) != q.conditional {
			t.Fatalf("the query has a formula: %v: %s", formula != nil, text)
		}
		for _, variables := range []map[string]any{
			{"ids": []any{"x", "y"}, "yes": true},
			{"ids": "x", "n": nil, "m": json.Number("100"), "yes": false},
			{"ids": []any{}, "n": json.Number("1"), "m": nil, "yes": true},
			{"ids": []any{"x", "y", "z"}, "n": json.Number("-3"), "m": json.Number("1000"), "yes": false},
		} {
			values, err := validator.VariableValues(schema, parsed.Operation, variables)
			if err != nil {
				t.Fatal(err)
			}
			operation := &graphql.OperationContext{Doc: parsed.Doc, Operation: parsed.Operation, Variables: values}
			checkReference(t, operation, formula, limits.Default().Spread)
			checkReference(t, operation, nil, 10)
			if t.Failed() {
				t.Fatal(text)
			}
		}
		if formula != nil {
			formulas++
			if formula.Price(map[string]any{"ids": []any{"x"}}).RU > 50 {
				expensive++
			}
		}
	}
	if formulas != 450 || expensive < 50 {
		t.Errorf("%d queries had a formula, %d of them were expensive", formulas, expensive)
	}
}

// TestConstantPrices checks which operations have one price for all variables.
func TestConstantPrices(t *testing.T) {
	for query, constant := range map[string]bool{
		`{feed{nodes{content}}}`: true, `{feed(first:3){nodes{content}}}`: true,
		`query($id:ID!){post(id:$id){comments{nodes{id}}}}`:         true,
		`query($n:Int){feed(first:$n){nodes{id}}}`:                  false,
		`query($n:ID!){feed{nodes{id}} nodes(ids:[$n]){id}}`:        false,
		`query($n:Int=3){user(id:"x"){posts(first:$n){nodes{id}}}}`: false,
	} {
		operation := parseOperation(query, map[string]any{"id": "x", "n": json.Number("1")})
		if operation == nil {
			t.Fatalf("the query is invalid: %s", query)
		}
		formula := list.Prepare(operation.Doc, operation.Operation, limits.Default().Spread)
		if formula == nil || (formula.constant != nil) != constant {
			t.Errorf("%s: %+v", query, formula)
		}
	}
}
