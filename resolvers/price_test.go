package resolvers

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator"

	"cosmosblog/graph"
	"cosmosblog/internal/limits"
)

var (
	theSchema = graph.NewExecutableSchema(graph.Config{}).Schema()
	thePrices = newPriceList(theSchema)
)

// operationOf reads a query as the server does; nil where it is not valid.
func operationOf(query string, variables map[string]any) *graphql.OperationContext {
	document, faults := gqlparser.LoadQuery(theSchema, query)
	if faults != nil || len(document.Operations) != 1 {
		return nil
	}
	values, err := validator.VariableValues(theSchema, document.Operations[0], variables)
	if err != nil {
		return nil
	}
	return &graphql.OperationContext{Doc: document, Operation: document.Operations[0], Variables: values}
}

func priceOfQuery(t *testing.T, query string, variables map[string]any) price {
	t.Helper()
	operation := operationOf(query, variables)
	if operation == nil {
		t.Fatalf("not valid: %s", query)
	}
	return priceOf(thePrices, operation, limits.Default().Spread)
}

// What is asked for is priced as it is going to be read: here by hand from the prices in the schema.
func TestPrices(t *testing.T) {
	const page = 2.5 + 20*0.19 // of posts
	for _, c := range []struct {
		query    string
		ru       float64
		elements float64
	}{
		{`{__typename}`, 0, 0},
		{`{__schema{types{name fields{name type{name}}}}}`, 0, 0},
		{`{viewer{id username creationDate postCount}}`, 1, 0},
		{`{post(id:"x"){id content}}`, 1.1, 0},
		{`{post(id:"x"){id} b:post(id:"x"){id}}`, 2.2, 0}, // aliases count each
		{`{post(id:"x"){id} post(id:"x"){title}}`, 1.1, 0},
		{`{post(id:"x"){viewerHasLiked}}`, 2.1, 0},
		{`{feed{pageInfo{hasNextPage}}}`, page, 20},
		{`{feed{nodes{id title author{id username}}}}`, page, 20},
		{`{feed{edges{cursor node{title}}}}`, page, 20},
		{`{feed(first:100){nodes{id}}}`, 2.5 + 100*0.19, 100},
		{`{feed{nodes{content}}}`, page + 2.3 + 20*0.37, 20},
		{`{feed{edges{node{content}}}}`, page + 2.3 + 20*0.37, 20},
		{`{feed(first:1){nodes{content}}}`, 2.5 + 0.19 + 1.1, 1}, // one is a point read
		{`{feed{nodes{viewerHasLiked}}}`, page + 2.3 + 20*0.14, 20},
		{`{feed{nodes{author{creationDate postCount}}}}`, page + 2.3 + 20*0.15, 20},
		{`{feed{nodes{content comments(first:5){nodes{id}} likes(first:1){nodes{id}}}}}`, // the posts are read once
			page + 2.3 + 20*0.37 + 20*(2.5+5*0.15+2.5+0.14), 20 + 20*5 + 20},
		{`{feed(first:10){nodes{comments(first:10){nodes{author{creationDate}}}}}}`,
			2.5 + 10*0.19 + 2.3 + 10*0.37 + 10*(2.5+10*0.15+2.3+10*0.15), 110},
		{`{feed(first:10){nodes{comments(first:10){nodes{post{content comments(first:10){nodes{id}}}}}}}}`,
			2.5 + 10*0.19 + 2.3 + 10*0.37 + 10*(2.5+10*0.15) + 100*(2.5+10*0.15), 1110},
		{`{post(id:"x"){comments(first:10){nodes{post{viewerHasLiked}}}}}`, 1.1 + 2.5 + 1.5 + 10, 10}, // nothing is read together behind a reference
		{`{node(id:"x"){id}}`, 2.1, 0},
		{`{node(id:"x"){... on Post{content comments{nodes{id}}} ... on User{posts{nodes{id}}}}}`, 2.1 + page, 20}, // the dearest of its types
		{`{nodes(ids:["x","y","z"]){id}}`, 2.1 + 3*1.5, 3},
		{`{nodes(ids:"x"){id}}`, 2.1 + 1.5, 1},
		{`{nodes(ids:["x","y"]){... on Post{content viewerHasLiked} ... on Comment{author{creationDate}} ... on Like{user{creationDate}}}}`,
			2.1 + 2*1.5 + 2.3 + 2*0.14 + 2.3 + 2*0.15, 2},
		{`mutation{likePost(input:{postId:"x"}){post{likeCount}} unlikePost(input:{postId:"x"}){post{likeCount}}}`, 19.5 + 19, 0},
		{`mutation{deleteUser(input:{username:"x"}){user{postCount}}}`, 7, 0},
		{`{user(id:"x"){...A}} fragment A on User{...B ...B} fragment B on User{posts{nodes{...C}}} fragment C on Post{content}`, 1 + page + 2.3 + 20*0.37, 20},
		{`{feed{nodes{...A ...B}}} fragment A on Post{comments(first:5){nodes{id}}} fragment B on Post{comments(first:5){nodes{content}}}`,
			page + 2.3 + 20*0.37 + 20*(2.5+5*0.15), 120}, // two fragments ask for one list
	} {
		got := priceOfQuery(t, c.query, nil)
		if math.Abs(got.ru-c.ru) > 0.006 || got.elements != c.elements {
			t.Errorf("%s\ncosts %.2f RU and %g elements, want %.2f and %g", c.query, got.ru, got.elements, c.ru, c.elements)
		}
	}
}

func TestPricesFollowVariables(t *testing.T) {
	const feed = `query($n:Int,$m:Int=3,$yes:Boolean!){feed(first:$n){nodes{likes(first:$m)@include(if:$yes){nodes{id}} content@skip(if:$yes)}}}`
	for _, c := range []struct {
		variables map[string]any
		elements  float64
	}{
		{map[string]any{"yes": false}, 20},
		{map[string]any{"yes": false, "n": nil}, 20},
		{map[string]any{"yes": true}, 20 + 20*3},
		{map[string]any{"yes": true, "n": json.Number("7"), "m": json.Number("5")}, 7 + 7*5},
		{map[string]any{"yes": true, "n": json.Number("1"), "m": nil}, 21},
		// Sizes that no page has are refused when the list would be read; priced as sizes that one has.
		{map[string]any{"yes": false, "n": json.Number("-5")}, 1},
		{map[string]any{"yes": false, "n": json.Number("2147483647")}, 100},
	} {
		if got := priceOfQuery(t, feed, c.variables); got.elements != c.elements {
			t.Errorf("%v: %g elements, want %g", c.variables, got.elements, c.elements)
		}
	}
	ids := []any{"a", "b", "c", "d"}
	if got := priceOfQuery(t, `query($ids:[ID!]!){nodes(ids:$ids){id}}`, map[string]any{"ids": ids}); got.elements != 4 {
		t.Errorf("four ids are %g elements", got.elements)
	}
	for _, one := range []any{"a", json.Number("1"), []any{"a"}} { // what is no list stands for a list of one
		if got := priceOfQuery(t, `query($ids:[ID!]!){nodes(ids:$ids){id}}`, map[string]any{"ids": one}); got.elements != 1 {
			t.Errorf("the id %v is %g elements", one, got.elements)
		}
	}
}

// The dearest field is named as the schema has it, with all of its answers.
func TestDearestField(t *testing.T) {
	got := priceOfQuery(t, `{
		cheap: viewer { id }
		feed { nodes { body: content said: comments(first: 50) { nodes { id } } } }
	}`, nil).dearest
	if got.name != "Post.comments" || math.Abs(got.ru-20*(2.5+50*0.15)) > 0.001 || got.field.Alias != "said" || got.field.Position.Line != 3 {
		t.Errorf("the dearest is %+v", got)
	}
	if got := priceOfQuery(t, `{post(id:"x"){id} feed(first:1){nodes{id}} nodes(ids:["x"]){... on Comment{post{likes(first:1){nodes{id}}}}}}`, nil).dearest; got.name != "Query.nodes" {
		t.Errorf("the dearest is %+v", got)
	}
	if got := priceOfQuery(t, `{feed(first:100){nodes{content}}}`, nil).dearest; got.name != "Post.content" {
		t.Errorf("the dearest is %+v", got)
	}
}

// Lists within lists without end cost a number, and counting fields of fragments within fragments ends.
func TestPricesHaveACeiling(t *testing.T) {
	deep := "{feed(first:100){nodes{id" + strings.Repeat(" author{posts(first:100){nodes{id", 300) + strings.Repeat("}}}", 300) + "}}}"
	if got := priceOfQuery(t, deep, nil); got.ru != priceCeiling || got.elements <= 1e9 {
		t.Errorf("300 lists within one another cost %g RU and %g elements", got.ru, got.elements)
	}
	var doubling strings.Builder
	doubling.WriteString("{feed{nodes{...F0}}}")
	for i := range 60 {
		fmt.Fprintf(&doubling, " fragment F%d on Post{a:author{posts{nodes{...F%d}}} b:author{posts{nodes{...F%d}}}}", i, i+1, i+1)
	}
	doubling.WriteString(" fragment F60 on Post{id}")
	if got := priceOfQuery(t, doubling.String(), nil); got.fields <= limits.Default().Spread || got.fields > 2*limits.Default().Spread {
		t.Errorf("counted %d fields", got.fields)
	}
}

// Every field that has a resolver of its own, and so may send a request, says what it costs.
func TestEveryFieldThatReadsHasAPrice(t *testing.T) {
	for _, name := range []string{
		"Query", "Mutation", // all of their fields
	} {
		for _, field := range theSchema.Types[name].Fields {
			if priced := thePrices[name].fields[field.Name]; !strings.HasPrefix(field.Name, "__") && priced.ru == 0 {
				t.Errorf("%s has no price", priced.name)
			}
		}
	}
	for _, definition := range theSchema.Types {
		for _, field := range definition.Fields {
			if definition.Kind == ast.Object && field.Arguments.ForName("first") != nil && thePrices[definition.Name].fields[field.Name].size != "first" {
				t.Errorf("the price of %s.%s does not follow `first`", definition.Name, field.Name)
			}
		}
	}
}

func FuzzPrice(f *testing.F) {
	for _, query := range []string{
		`{feed{nodes{...A}}} fragment A on Post{author{posts{nodes{content}}}}`,
		`query($n:Int=5){feed(first:$n){edges{node{viewerHasLiked comments{nodes{id}}}}}}`,
		`query($ids:[ID!]!){nodes(ids:$ids){id ...on Comment{post{id}}}}`,
		`mutation($i:LikePostInput!){likePost(input:$i){post{id}}}`,
		`{__schema{types{name}}}`,
	} {
		f.Add(query, `{"n":7,"ids":["x"],"i":{"postId":"x"}}`)
	}
	f.Fuzz(func(t *testing.T, query, variables string) {
		var values map[string]any
		decoder := json.NewDecoder(strings.NewReader(variables))
		decoder.UseNumber()
		_ = decoder.Decode(&values)
		operation := operationOf(query, values)
		if operation == nil {
			return
		}
		if err := checkConditions(operation); err != nil {
			return
		}
		p := priceOf(thePrices, operation, limits.Default().Spread)
		if p.ru < 0 || p.ru > priceCeiling || math.IsNaN(p.ru) || p.elements < 0 || p.dearest.ru > 0 && p.dearest.name == "" {
			t.Errorf("the price is %+v", p)
		}
		if p.ru > 0 && p.dearest.field == nil {
			t.Errorf("nothing is dearest of %g RU", p.ru)
		}
	})
}

func BenchmarkPrice(b *testing.B) {
	read := operationOf(`{feed{nodes{id title excerpt viewerHasLiked author{id username} comments(first:3){nodes{id content author{username}}}} pageInfo{hasNextPage}}}`, nil)
	for b.Loop() {
		priceOf(thePrices, &graphql.OperationContext{Doc: read.Doc, Operation: read.Operation}, limits.Default().Spread)
	}
}
