package api_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// What the edition of September 2025 of GraphQL's specification says of documents and values.
// proof/conformance/graphqljs compares random ones with graphql-js.
func TestEdition(t *testing.T) {
	s := newSite(t, true)
	for _, c := range []struct{ query, variables, codes, data string }{
		// Section 4.2.2: "All other fields must return null".
		{`{__type(name:"DateTime"){kind fields{name} interfaces{name} possibleTypes{name} enumValues{name} inputFields{name} ofType{name} isOneOf}}`, ``, ``,
			`{"__type":{"kind":"SCALAR","fields":null,"interfaces":null,"possibleTypes":null,"enumValues":null,"inputFields":null,"ofType":null,"isOneOf":null}}`},
		// Section 5.2.4.1, Single Root Field.
		{`subscription{a:postPublished{cursor} b:postPublished{cursor}}`, ``, `GRAPHQL_VALIDATION_FAILED`, ``},
		{`subscription{postPublished{cursor} ...F} fragment F on Subscription{b:postPublished{cursor}}`, ``, `GRAPHQL_VALIDATION_FAILED`, ``},
		{`subscription{postPublished{cursor} __typename}`, ``, `GRAPHQL_VALIDATION_FAILED`, ``},
		{`subscription{__typename}`, ``, `GRAPHQL_VALIDATION_FAILED`, ``},
		{`subscription{postPublished @skip(if:false){cursor}}`, ``, `GRAPHQL_VALIDATION_FAILED`, ``},
		{`subscription($a:Boolean!){...@include(if:$a){postPublished{cursor}}}`, `{"a":true}`, `GRAPHQL_VALIDATION_FAILED`, ``},
		{`subscription{...F @skip(if:false)} fragment F on Subscription{postPublished{cursor}}`, ``, `GRAPHQL_VALIDATION_FAILED`, ``},
		{`subscription{...F} fragment F on Subscription{postPublished @include(if:true){cursor}}`, ``, `GRAPHQL_VALIDATION_FAILED`, ``},
		{`subscription{postPublished{cursor} postPublished{node{id}}}`, ``, `BAD_USER_INPUT`, ``}, // valid, but not for a JSON response
		// Section 3.5.1, Int: an integer by its value in JSON, and by its spelling in a query.
		{`query($n:Int){tags(first:$n){name}}`, `{"n":1.0}`, ``, `{"tags":[]}`},
		{`query($n:Int){tags(first:$n){name}}`, `{"n":10e-1}`, ``, `{"tags":[]}`},
		{`query($n:Int){tags(first:$n){name}}`, `{"n":1.5}`, `BAD_USER_INPUT`, ``},
		{`query($n:Int){tags(first:$n){name}}`, `{"n":1e400}`, `BAD_USER_INPUT`, ``},
		{`query($n:Int){tags(first:$n){name}}`, `{"n":2147483648}`, `BAD_USER_INPUT`, ``},
		{`query($n:Int){tags(first:$n){name}}`, `{"n":"1"}`, `BAD_USER_INPUT`, ``},
		{`query($n:Int=2147483648){tags(first:$n){name}}`, `{"n":1}`, `GRAPHQL_VALIDATION_FAILED`, ``},
		{`{tags(first:1.0){name}}`, ``, `GRAPHQL_VALIDATION_FAILED`, ``},
		{`{tags(first:-2147483649){name}}`, ``, `GRAPHQL_VALIDATION_FAILED`, ``},
		{`{tags(first:{}){name}}`, ``, `GRAPHQL_VALIDATION_FAILED`, ``},
		{`query($n:Int={}){tags(first:$n){name}}`, ``, `GRAPHQL_VALIDATION_FAILED`, ``},
		{`{viewer{id @include(if:{})}}`, ``, `GRAPHQL_VALIDATION_FAILED`, ``},
		{`{__typename @skip(if:"true")}`, ``, `GRAPHQL_VALIDATION_FAILED`, ``},
		// Section 3.5.5, ID: any string or integer. A malformed one fails its own element.
		{`query($i:ID!){node(id:$i){id}}`, `{"i":5}`, `BAD_USER_INPUT`, `{"node":null}`},
		{`query($i:ID!){node(id:$i){id}}`, `{"i":5.0}`, `BAD_USER_INPUT`, `{"node":null}`},
		{`query($i:ID!){node(id:$i){id}}`, `{"i":5.5}`, `BAD_USER_INPUT`, ``},
		{`query($i:ID=99999999999999999999){node(id:$i){id}}`, ``, `BAD_USER_INPUT`, `{"node":null}`},
		{`{node(id:99999999999999999999){id}}`, ``, `BAD_USER_INPUT`, `{"node":null}`},
		{`{node(id:5.5){id}}`, ``, `GRAPHQL_VALIDATION_FAILED`, ``},
		{fmt.Sprintf(`{nodes(ids:[%q,5,""]){__typename}}`, s.post), ``, `BAD_USER_INPUT BAD_USER_INPUT`, `{"nodes":[{"__typename":"Post"},null,null]}`},
		{`query($i:[ID!]!){nodes(ids:$i){__typename}}`, fmt.Sprintf(`{"i":[%q,5,"x"]}`, s.post), `BAD_USER_INPUT BAD_USER_INPUT`, `{"nodes":[{"__typename":"Post"},null,null]}`},
		{`{nodes(ids:5){__typename}}`, ``, `BAD_USER_INPUT`, `{"nodes":[null]}`},
		// Section 3.9, Enum: a name in a query, a string in JSON.
		{fmt.Sprintf(`{post(id:%q){comments(order:"NEWEST_FIRST"){totalCount}}}`, s.post), ``, `GRAPHQL_VALIDATION_FAILED`, ``},
		{fmt.Sprintf(`query($o:CommentOrder){post(id:%q){comments(order:$o){totalCount}}}`, s.post), `{"o":"NEWEST_FIRST"}`, ``, `{"post":{"comments":{"totalCount":1}}}`},
		{fmt.Sprintf(`query($o:CommentOrder){post(id:%q){comments(order:$o){totalCount}}}`, s.post), `{"o":"newest_first"}`, `BAD_USER_INPUT`, ``},
		// Section 3.10, input objects: no entry whose name is not a field.
		{`mutation($i:DeletePostInput!){deletePost(input:$i){post{id}}}`, fmt.Sprintf(`{"i":{"id":%q,"__typename":"DeletePostInput"}}`, s.post), `BAD_USER_INPUT`, ``},
		// Section 2.1.1: any Unicode scalar value, also in comments and strings.
		{"{__typename} # \x01\x1f\x7f", ``, ``, `{"__typename":"Query"}`},
		{"{tag(name:\"\x01\"){name}}", ``, `BAD_USER_INPUT`, `{"tag":null}`},
		{"{tag(name:\"\"\"\x01\"\"\"){name}}", ``, `BAD_USER_INPUT`, `{"tag":null}`},
		// Section 2.9.4: the first line has no indentation.
		{"{tag(name:\"\"\"\n    go\n  \"\"\"){name}}", ``, ``, `{"tag":{"name":"go"}}`},
	} {
		r := s.send("POST", "/graphql", fmt.Sprintf(`{"query":%s,"variables":%s}`, jsonOf(t, c.query), cmp.Or(c.variables, "null")), "Content-Type", "application/json")
		if r.codes() != c.codes || string(r.Data) != c.data {
			t.Errorf("%s with %s: %s, want %q and %s", c.query, c.variables, r.Body, c.codes, c.data)
		}
	}
	if log := s.log.String(); strings.Contains(log, "ERROR") {
		t.Errorf("a document of a client is an error in the log: %s", log)
	}
}

// A value that is not one of its type is found before anything runs, wherever it is.
func TestNothingRunsBeforeValuesAreChecked(t *testing.T) {
	s := newSite(t, true)
	for _, second := range []string{`version:3000000000`, `version:1.5`, `version:{}`, `title:1`, `tags:[null]`, `tags:[[]]`, `version:$v`} {
		query := fmt.Sprintf(`mutation($v:Int=3000000000){deletePost(input:{id:%q}){post{id}} updatePost(input:{id:%[1]q,%s}){post{id}}}`, s.post, second)
		if second != `version:$v` {
			query = strings.Replace(query, "($v:Int=3000000000)", "", 1)
		}
		if r := s.queryAs("Ann", query); r.codes() != "GRAPHQL_VALIDATION_FAILED" {
			t.Errorf("%s: %s", query, r.Body)
		}
		if r := s.queryAs("", fmt.Sprintf(`{post(id:%q){id}}`, s.post)); r.codes() != "" || !strings.Contains(string(r.Data), s.post) {
			t.Fatalf("%s ran: %s", query, r.Body)
		}
	}
}

// Operations that spread a fragment with the same variable have their own defaults (section 6.1.2),
// in what they execute and in their price.
func TestDefaultsOfOtherOperations(t *testing.T) {
	s := newSite(t, true)
	query := fmt.Sprintf(`mutation A($t:String){...F} mutation B($t:String="Other"){...F}
		fragment F on Mutation{updatePost(input:{id:%q,content:"New",title:$t}){post{title}}}`, s.post)
	for _, c := range []struct{ operation, title string }{{"A", "Here"}, {"B", "Other"}} {
		body := fmt.Sprintf(`{"query":%s,"operationName":%q}`, jsonOf(t, query), c.operation)
		r := s.send("POST", "/graphql", body, "Content-Type", "application/json", "Authorization", "Bearer Ann")
		if want := fmt.Sprintf(`{"updatePost":{"post":{"title":%q}}}`, c.title); string(r.Data) != want {
			t.Errorf("%s: %s, want %s", c.operation, r.Body, want)
		}
	}
	const lists = `fragment F on Query{feed(first:$n){nodes{comments(first:$n){nodes{content}}}}}`
	priceOf := func(query string) string {
		body := fmt.Sprintf(`{"query":%s,"operationName":"A"}`, jsonOf(t, query))
		return s.send("POST", "/graphql", body, "Content-Type", "application/json", "X-Cosmos-Diagnostics", "price").Body.String()
	}
	alone, beside := priceOf(`query A($n:Int){...F}`+lists), priceOf(`query A($n:Int){...F} query B($n:Int=1){...F}`+lists)
	if alone != beside || !strings.Contains(alone, "estimate") {
		t.Errorf("the price is %s, and beside another operation %s", alone, beside)
	}
}

func jsonOf(t *testing.T, text string) string {
	t.Helper()
	encoded, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}
