package price

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
	"cosmosblog/guard/limits"
)

var (
	schema = graph.NewExecutableSchema(graph.Config{}).Schema()
	list   = NewList(schema)
)

// parseOperation parses and validates a query as the server does. It returns nil if the query is
// invalid.
func parseOperation(query string, variables map[string]any) *graphql.OperationContext {
	document, errs := gqlparser.LoadQuery(schema, query)
	if errs != nil || len(document.Operations) != 1 {
		return nil
	}
	values, err := validator.VariableValues(schema, document.Operations[0], variables)
	if err != nil {
		return nil
	}
	return &graphql.OperationContext{Doc: document, Operation: document.Operations[0], Variables: values}
}

func priceOf(t *testing.T, query string, variables map[string]any) Price {
	t.Helper()
	operation := parseOperation(query, variables)
	if operation == nil {
		t.Fatalf("invalid query: %s", query)
	}
	p, _ := list.Price(operation, limits.Default().Spread)
	return p
}

// feedPage is the price of one page of 20 posts.
const feedPage = 2.7 + 20*0.33

// priceTests state each price as the sum of the schema's prices for the reads that the query
// causes.
var priceTests = []struct {
	query    string
	ru       float64
	elements float64
}{
	{`{__typename}`, 0, 0},
	{`{__schema{types{name fields{name type{name}}}}}`, 0, 0},
	{`{viewer{id username creationDate postCount}}`, 1, 0},
	{`{post(id:"x"){id content}}`, 1.2, 0},
	{`{post(id:"x"){id} b:post(id:"x"){id}}`, 2.4, 0}, // each alias counts
	{`{post(id:"x"){id} post(id:"x"){title}}`, 1.2, 0},
	{`{post(id:"x"){viewerHasLiked}}`, 2.2, 0},
	{`{feed{pageInfo{hasNextPage}}}`, feedPage, 20},
	{`{feed{nodes{id title author{id username}}}}`, feedPage, 20},
	{`{feed{edges{cursor node{title}}}}`, feedPage, 20},
	{`{feed(first:100){nodes{id}}}`, 2.7 + 100*0.33, 100},
	{`{feed{nodes{content}}}`, feedPage + 2.3 + 20*0.52, 20},
	{`{feed{edges{node{content}}}}`, feedPage + 2.3 + 20*0.52, 20},
	{`{feed(first:1){nodes{content}}}`, 2.7 + 0.33 + 1.2, 1}, // a single item is a point read
	{`{feed{nodes{viewerHasLiked}}}`, feedPage + 2.3 + 20*0.14, 20},
	{`{feed{nodes{author{creationDate postCount}}}}`, feedPage + 2.3 + 20*0.15, 20},
	{`{feed{nodes{content comments(first:5){nodes{id}} likes(first:1){nodes{id}}}}}`, // one read for content, comments and likes
		feedPage + 2.3 + 20*0.52 + 20*(2.5+5*0.16+2.5+0.14), 20 + 20*5 + 20},
	{`{feed(first:10){nodes{comments(first:10){nodes{author{creationDate}}}}}}`,
		2.7 + 10*0.33 + 2.3 + 10*0.52 + 10*(2.5+10*0.16+2.3+10*0.15), 110},
	{`{feed(first:10){nodes{comments(first:10){nodes{post{content comments(first:10){nodes{id}}}}}}}}`,
		2.7 + 10*0.33 + 2.3 + 10*0.52 + 10*(2.5+10*0.16) + 100*(2.5+10*0.16), 1110},
	{`{post(id:"x"){recentComments{excerpt}}}`, 1.2, 3},
	{`{post(id:"x"){recentComments{content author{creationDate}}}}`, 1.2 + 2.3 + 3*0.16 + 2.3 + 3*0.15, 3},
	{`{feed(first:10){nodes{recentComments{excerpt author{username} content}}}}`, 2.7 + 10*0.33 + 2.3 + 30*0.16, 40},
	{`{feed(first:10){nodes{recentComments{post{content}}}}}`, 2.7 + 10*0.33 + 30*1.2, 40}, // the post is a copy
	{`{post(id:"x"){comments(first:10){nodes{content post{content}} edges{node{content}}}}}`, 1.2 + 2.5 + 1.6, 10},
	{`{post(id:"x"){comments(first:10){nodes{post{viewerHasLiked}}}}}`, 1.2 + 2.5 + 1.6 + 10, 10}, // no batches below a reference
	{`{post(id:"x"){previousByAuthor{title contentLength commentCount}}}`, 1.2 + 3.3, 0},
	{`{post(id:"x"){previousByAuthor{content comments(first:1){nodes{id}}}}}`, 1.2 + 3.3 + 1.2 + 2.5 + 0.16, 1}, // it is a copy
	{`{feed{nodes{previousByAuthor{title previousByAuthor{title}}}}}`, feedPage + 20*2*3.3, 20},
	{`{feed{nodes{content previousByAuthor{content author{postCount}}}}}`, feedPage + 2.3 + 20*0.52 + 20*(3.3+1.2+1), 20}, // no batches below it
	{`{tag(name:"go"){posts(first:10){nodes{previousByAuthor{likeCount}}}}}`, 2.6 + 10*0.3 + 10*3.3, 10},                  // a copy, not an entry
	{`{node(id:"x"){id}}`, 2.2, 0},
	{`{node(id:"x"){... on Like{user{creationDate}}}}`, 2.2 + 1, 0},
	{`{node(id:"x"){... on Post{content comments{nodes{id}}} ... on User{posts{nodes{id}}}}}`, 2.2 + feedPage, 20}, // the most expensive type
	{`{nodes(ids:["x","y","z"]){id}}`, 2.2 + 3*1.5, 3},
	{`{nodes(ids:"x"){id}}`, 2.2 + 1.5, 1},
	{`{nodes(ids:["x","y"]){... on Post{content viewerHasLiked} ... on Comment{author{creationDate}} ... on Like{user{creationDate}}}}`,
		2.2 + 2*1.5 + 2.3 + 2*0.14 + 2.3 + 2*0.15, 2},
	{`mutation{likePost(input:{postId:"x"}){post{likeCount}} unlikePost(input:{postId:"x"}){post{likeCount}}}`, 19.5 + 19, 0},
	{`mutation{deleteUser(input:{username:"x"}){user{postCount}}}`, 8.5, 0},
	{`{user(id:"x"){...A}} fragment A on User{...B ...B} fragment B on User{posts{nodes{...C}}} fragment C on Post{content}`,
		1 + feedPage + 2.3 + 20*0.52, 20},
	{`{feed{nodes{...A ...B}}} fragment A on Post{comments(first:5){nodes{id}}} fragment B on Post{comments(first:5){nodes{content}}}`,
		feedPage + 2.3 + 20*0.52 + 20*(2.5+5*0.16), 120}, // two fragments select the same list
}

func TestPrice(t *testing.T) {
	for _, test := range priceTests {
		got := priceOf(t, test.query, nil)
		if math.Abs(got.RU-test.ru) > 0.006 || got.Elements != test.elements {
			t.Errorf("%s\ncosts %.2f RU and %g elements, want %.2f and %g", test.query, got.RU, got.Elements, test.ru, test.elements)
		}
	}
}

func TestPriceDependsOnVariables(t *testing.T) {
	const feed = `query($n:Int,$m:Int=3,$yes:Boolean!){feed(first:$n){nodes{likes(first:$m)@include(if:$yes){nodes{id}} content@skip(if:$yes)}}}`
	for _, test := range []struct {
		variables map[string]any
		elements  float64
	}{
		{map[string]any{"yes": false}, 20},
		{map[string]any{"yes": false, "n": nil}, 20},
		{map[string]any{"yes": true}, 20 + 20*3},
		{map[string]any{"yes": true, "n": json.Number("7"), "m": json.Number("5")}, 7 + 7*5},
		{map[string]any{"yes": true, "n": json.Number("1"), "m": nil}, 21},
		// Invalid page sizes count as the nearest valid size. The resolver rejects them later. A page of
		// no elements counts as one, because hasNextPage reads one.
		{map[string]any{"yes": true, "n": json.Number("0"), "m": json.Number("5")}, 6},
		{map[string]any{"yes": false, "n": json.Number("-5")}, 1},
		{map[string]any{"yes": false, "n": json.Number("2147483647")}, 100},
	} {
		if got := priceOf(t, feed, test.variables); got.Elements != test.elements {
			t.Errorf("%v: %g elements, want %g", test.variables, got.Elements, test.elements)
		}
	}
	ids := []any{"a", "b", "c", "d"}
	if got := priceOf(t, `query($ids:[ID!]!){nodes(ids:$ids){id}}`, map[string]any{"ids": ids}); got.Elements != 4 {
		t.Errorf("four ids count as %g elements", got.Elements)
	}
	for _, one := range []any{"a", json.Number("1"), []any{"a"}} { // a single value is coerced to a list
		if got := priceOf(t, `query($ids:[ID!]!){nodes(ids:$ids){id}}`, map[string]any{"ids": one}); got.Elements != 1 {
			t.Errorf("the id %v counts as %g elements", one, got.Elements)
		}
	}
}

// The most expensive field has its schema name and the price for all objects together.
func TestMostExpensiveField(t *testing.T) {
	got := priceOf(t, `{
		cheap: viewer { id }
		feed { nodes { body: content said: comments(first: 50) { nodes { id } } } }
	}`, nil).MostExpensive
	if got.Name != "Post.comments" || math.Abs(got.RU-20*(2.5+50*0.16)) > 0.001 || got.Field.Alias != "said" || got.Field.Position.Line != 3 {
		t.Errorf("the most expensive field is %+v", got)
	}
	if got := priceOf(t, `{post(id:"x"){id} feed(first:1){nodes{id}} nodes(ids:["x"]){... on Comment{post{likes(first:1){nodes{id}}}}}}`, nil); got.MostExpensive.Name != "Query.nodes" {
		t.Errorf("the most expensive field is %+v", got.MostExpensive)
	}
	if got := priceOf(t, `{feed(first:100){nodes{content}}}`, nil); got.MostExpensive.Name != "Post.content" {
		t.Errorf("the most expensive field is %+v", got.MostExpensive)
	}
}

// Deeply nested lists have a finite price. Nested fragments do not make pricing slow.
func TestPriceIsBounded(t *testing.T) {
	deep := "{feed(first:100){nodes{id" + strings.Repeat(" author{posts(first:100){nodes{id", 300) + strings.Repeat("}}}", 300) + "}}}"
	if got := priceOf(t, deep, nil); got.RU != maxRU || got.Elements <= 1e9 {
		t.Errorf("300 nested lists cost %g RU and %g elements", got.RU, got.Elements)
	}
	var doubling strings.Builder
	doubling.WriteString("{feed{nodes{...F0}}}")
	for i := range 60 {
		fmt.Fprintf(&doubling, " fragment F%d on Post{a:author{posts{nodes{...F%d}}} b:author{posts{nodes{...F%d}}}}", i, i+1, i+1)
	}
	doubling.WriteString(" fragment F60 on Post{id}")
	if got := priceOf(t, doubling.String(), nil); got.Fields <= limits.Default().Spread || got.Fields > 2*limits.Default().Spread {
		t.Errorf("counted %d fields", got.Fields)
	}
}

// Every field with its own resolver may send a request, so it needs a price. A tag and a month are
// only names.
func TestFieldsWithRequestsHavePrices(t *testing.T) {
	for _, name := range []string{"Query", "Mutation"} {
		for _, field := range schema.Types[name].Fields {
			if priced := list[name].fields[field.Name]; !strings.HasPrefix(field.Name, "__") && priced.ru == 0 && field.Name != "tag" && field.Name != "archive" {
				t.Errorf("%s has no price", priced.name)
			}
		}
	}
	for _, definition := range schema.Types {
		for _, field := range definition.Fields {
			if definition.Kind == ast.Object && field.Arguments.ForName("first") != nil && list[definition.Name].fields[field.Name].sizeArgument != "first" {
				t.Errorf("the price of %s.%s does not depend on `first`", definition.Name, field.Name)
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
		operation := parseOperation(query, values)
		if operation == nil {
			return
		}
		if err := checkConditions(operation); err != nil {
			return
		}
		p, isConstant := list.Price(operation, limits.Default().Spread)
		if isConstant {
			without := &graphql.OperationContext{Doc: operation.Doc, Operation: operation.Operation}
			if other, _ := list.Price(without, limits.Default().Spread); other != p {
				t.Errorf("without variables, the price is %+v, not %+v", other, p)
			}
		}
		if p.RU < 0 || p.RU > maxRU || math.IsNaN(p.RU) || p.Elements < 0 || p.MostExpensive.RU > 0 && p.MostExpensive.Name == "" {
			t.Errorf("the price is %+v", p)
		}
		if p.RU > 0 && p.MostExpensive.Field == nil {
			t.Errorf("a price of %g RU has no most expensive field", p.RU)
		}
	})
}

// TestConstantPrices checks which operations have one price for all variables.
func TestConstantPrices(t *testing.T) {
	for query, constant := range map[string]bool{
		`{feed{nodes{content}}}`: true, `{feed(first:3){nodes{content}}}`: true,
		`query($id:ID!){post(id:$id){comments{nodes{id}}}}`:                                             true,
		`query($n:Int){feed(first:$n){nodes{id}}}`:                                                      false,
		`query($n:ID!){feed{nodes{id}} nodes(ids:[$n]){id}}`:                                            false,
		`query($n:Int=3){user(id:"x"){posts(first:$n){nodes{id}}}}`:                                     false,
		`query($id:ID!,$yes:Boolean=true){post(id:$id){id @skip(if:$yes)}}`:                             false,
		`mutation($id:ID!,$text:String!){createComment(input:{postId:$id content:$text}){comment{id}}}`: false,
	} {
		operation := parseOperation(query, map[string]any{"id": "x", "n": json.Number("1"), "text": "x"})
		if operation == nil {
			t.Fatalf("the query is invalid: %s", query)
		}
		if _, isConstant := list.Price(operation, limits.Default().Spread); isConstant != constant {
			t.Errorf("%s: constant=%t", query, isConstant)
		}
	}
}

// BenchmarkPrice prices an operation whose sizes are variables.
func BenchmarkPrice(b *testing.B) {
	const selected = `{nodes{id title excerpt viewerHasLiked author{id username} comments(first:$m){nodes{id content author{username}}}} pageInfo{hasNextPage}}`
	operation := parseOperation(`query($n:Int=20,$m:Int=3){feed(first:$n)`+selected+`}`, nil)
	b.ReportAllocs()
	for b.Loop() {
		list.Price(operation, limits.Default().Spread)
	}
}
