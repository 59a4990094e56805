package api_test

import (
	"fmt"
	"strings"
	"testing"
)

func aliases(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "a%d: viewer {id} ", i)
	}
	return "{" + b.String() + "}"
}

func nested(n int) string {
	path := []string{"viewer"}
	for len(path) < n {
		path = append(path, "posts(first:1)", "nodes", "author")
	}
	return "{" + strings.Join(path[:n], "{") + "{__typename" + strings.Repeat("}", n+1)
}

func fragments(n int) string {
	return "{viewer{" + many(n, func(i int) string { return fmt.Sprintf("...F%d ", i) }) + "}}" +
		many(n, func(i int) string { return fmt.Sprintf(" fragment F%d on User{id}", i) })
}

// repeatedFragment returns a query with n fields. Its fragment of 198 fields, and ten spreads in
// total, make validation visit 1,000 more parts.
func repeatedFragment(n int) string {
	return "{...A " + strings.Repeat("__typename ", n) + "} fragment A on Query{...B} fragment B on Query{...C} fragment C on Query{...D} fragment D on Query{" +
		strings.Repeat("__typename ", 198) + "}"
}

// inlineFragments returns a query with n fields in 9 nested inline fragments.
func inlineFragments(n int) string {
	return "{" + strings.Repeat("...{", 9) + strings.Repeat("__typename ", n) + strings.Repeat("}", 10)
}

func TestLimits(t *testing.T) {
	for _, c := range []struct{ name, query, message string }{
		{"30 aliases", aliases(30), ""},
		{"31 aliases", aliases(31), "more than 30 aliases"},
		{"31 aliases of __typename", strings.ReplaceAll(aliases(31), "viewer {id}", "__typename"), "more than 30 aliases"},
		{"50 directives", "{" + strings.Repeat("__typename @include(if:true) ", 50) + "}", ""},
		{"51 directives", "{" + strings.Repeat("__typename @include(if:true) ", 51) + "}", "more than 50 directives"},
		{"unknown directives", "{__typename " + strings.Repeat("@aa ", 50) + "}", "no such directive"},
		{"too many tokens", "{" + strings.Repeat("__typename ", 2000) + "}", "token"},
		{"too long", "{__typename} #" + strings.Repeat("x", 512<<10), "longer than 524288 bytes"},
		{"250 fields", "{" + strings.Repeat("__typename ", 250) + "}", ""},
		{"251 fields", "{" + strings.Repeat("__typename ", 251) + "}", "more than 250 fields"},
		{"251 fields of a fragment", "{__typename} fragment F on Query{" + strings.Repeat("__typename ", 250) + "}", "more than 250 fields"},
		{"50 definitions", fragments(49), ""},
		{"51 definitions", fragments(50), "more than 50 operations and fragments"},
		{"1,000 fields of repeated fragments", repeatedFragment(0), ""},
		{"1,001 fields of repeated fragments", repeatedFragment(1), "more than 1000 fields and spreads"},
		{"100 fields in inline fragments", inlineFragments(100), ""},
		{"101 fields in inline fragments", inlineFragments(101), "more than 1000 fields and spreads"},
		{"1,001 fields of two fragments of one name", strings.Replace(repeatedFragment(1), "fragment D", "fragment D on Query{...E} fragment E", 1) + " fragment E on Query{__typename}", "more than 1000 fields and spreads"},
		{"long arguments in a fragment", "{...F} fragment F on Query{userByUsername(username:\"" + strings.Repeat("x", 500_000) + "\"){id}}", ""},
		{"long arguments in a repeated fragment", "query A{...F} query B{...F} fragment F on Query{userByUsername(username:\"" + strings.Repeat("x", 500_000) + "\"){id}}", "more than 1048576 bytes of arguments"},
		{"50,000 lines", "{__typename " + strings.Repeat("\n", 50_000) + "}", ""},
		{"50,001 lines", "{__typename " + strings.Repeat("\n", 50_001) + "}", "more than 50000 lines"},
		{"a name of 200 characters", "{" + strings.Repeat("a", 200) + ":__typename}", ""},
		{"a name of 201 characters", "{" + strings.Repeat("a", 201) + ":__typename}", "more than 200 characters"},
		{"a number of 201 characters", "{feed(first:" + strings.Repeat("1", 201) + "){nodes{id}}}", "more than 200 characters"},
		{"4 nested values", "{feed(first:[[[[1]]]]){nodes{id}}}", "Expected a value of type Int"},
		{"5 nested values", "{feed(first:[[[[[1]]]]]){nodes{id}}}", "nests more than 4 lists and objects"},
		{"5 nested values in a default", "query($n:Int=[{a:[{a:[1]}]}]){feed(first:$n){nodes{id}}}", "nests more than 4 lists and objects"},
		{"12 deep", nested(12), ""},
		{"13 deep", nested(13), "deeper than 12"},
		{"deep fragments", "{feed{nodes{...A}}} fragment A on Post{author{posts{nodes{...B}}}} fragment B on Post{author{posts{nodes{...C}}}} fragment C on Post{author{posts{nodes{author{id}}}}}", "deeper than 12"},
		{"a fragment that spreads itself", "{feed{nodes{...A}}} fragment A on Post{author{posts{nodes{...A}}}}", "spread itself"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newServer(t, nil).query(c.query)
			switch found := strings.Contains(r.Body.String(), c.message); {
			case c.message == "" && len(r.Errors) > 0:
				t.Errorf("rejected: %s", r.Body)
			case c.message != "" && (!found || r.Data != nil):
				t.Errorf("want %q, got %s", c.message, r.Body)
			}
			if len(r.Errors) > 10 {
				t.Errorf("%d errors in one response", len(r.Errors))
			}
			for _, code := range strings.Fields(r.codes()) {
				if !strings.Contains(invalidQuery, code) {
					t.Errorf("code %s", code)
				}
			}
		})
	}
}

// TestLimitsOfJSON checks the limits of names and values, and of nesting. The request has seven
// more names and values than its list, and two more levels.
func TestLimitsOfJSON(t *testing.T) {
	s := newServer(t, nil)
	for _, c := range []struct {
		x      string
		status int
	}{
		{"[" + strings.Repeat("1,", 1992) + "1]", 200},
		{"[" + strings.Repeat("1,", 1993) + "1]", 400},
		{strings.Repeat("[", 98) + strings.Repeat("]", 98), 200},
		{strings.Repeat("[", 99) + strings.Repeat("]", 99), 400},
	} {
		if r := s.post(`{"query":"{__typename}","variables":{"x":` + c.x + `}}`); r.Code != c.status {
			t.Errorf("%.10s, %d bytes: status %d: %s", c.x, len(c.x), r.Code, r.Body)
		}
	}
}

// TestNestedSpreads checks that fragments that spread the next one twice do not take exponential
// time.
func TestNestedSpreads(t *testing.T) {
	var b strings.Builder
	b.WriteString("{viewer{...F0}}")
	for i := range 28 {
		fmt.Fprintf(&b, " fragment F%d on User{...F%d ...F%d}", i, i+1, i+1)
	}
	b.WriteString(" fragment F28 on User{id}")
	if r := newServer(t, nil).query(b.String()); string(r.Data) != `{"viewer":null}` {
		t.Errorf("got %s", r.Body)
	}
}

func TestIntrospectionAndSuggestions(t *testing.T) {
	introspect := `{__schema{queryType{name}} __type(name:"Post"){name}}`
	misspelt := []string{`{viewr{id}}`, `{user(idd:"x"){id}}`, `{viewer{...F}} fragment F on Usr{id}`, `mutation{createUser(input:{usernam:"x"}){user{id}}}`, `{viewer}`}

	development := newServer(t, inDevelopment)
	if r := development.query(introspect); len(r.Errors) > 0 {
		t.Errorf("introspection in development: %s", r.Body)
	}
	production := newServer(t, nil)
	if r := production.query(introspect); r.codes() != "GRAPHQL_VALIDATION_FAILED GRAPHQL_VALIDATION_FAILED" || r.Data != nil {
		t.Errorf("introspection in production: %s", r.Body)
	}
	for _, query := range misspelt {
		if r := development.query(query); !strings.Contains(r.Body.String(), "Did you mean") {
			t.Errorf("%s in development: %s", query, r.Body)
		}
		if r := production.query(query); r.codes() == "" || strings.Contains(r.Body.String(), "Did you mean") {
			t.Errorf("%s in production: %s", query, r.Body)
		}
	}
}

// TestLocationsOfBlockStrings checks that lines and columns start at 1, even for strings of
// several lines.
func TestLocationsOfBlockStrings(t *testing.T) {
	s := newServer(t, nil)
	for _, query := range []string{"{feed(first:\"\"\"a\n\nb\"\"\"){nodes{id}}}", "{\"\"\"a\n\nb\"\"\"}"} {
		r := s.query(query)
		if len(r.Errors) != 1 || len(r.Errors[0].Locations) != 1 || r.Errors[0].Locations[0]["line"] < 1 || r.Errors[0].Locations[0]["column"] < 1 {
			t.Errorf("%s: %s", query, r.Body)
		}
	}
}
