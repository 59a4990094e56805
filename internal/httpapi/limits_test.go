package httpapi_test

import (
	"fmt"
	"strings"
	"testing"
)

// aliases gives a query with n aliases.
func aliases(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "a%d: viewer {id} ", i)
	}
	return "{" + b.String() + "}"
}

// nested gives a query of n fields within one another.
func nested(n int) string {
	path := []string{"viewer"}
	for len(path) < n {
		path = append(path, "posts", "nodes", "author")
	}
	return "{" + strings.Join(path[:n], "{") + "{__typename" + strings.Repeat("}", n+1)
}

func TestLimits(t *testing.T) {
	for _, c := range []struct{ name, query, message string }{
		{"30 aliases", aliases(30), ""},
		{"31 aliases", aliases(31), "more than 30 aliases"},
		{"31 aliases of __typename", strings.ReplaceAll(aliases(31), "viewer {id}", "__typename"), "more than 30 aliases"},
		{"50 directives", "{" + strings.Repeat("__typename @include(if:true) ", 50) + "}", ""},
		{"51 directives", "{" + strings.Repeat("__typename @include(if:true) ", 51) + "}", "more than 50 directives"},
		{"unknown directives", "{__typename " + strings.Repeat("@aa ", 900) + "}", "no such directive"},
		{"too many tokens", "{" + strings.Repeat("__typename ", 2000) + "}", "token"},
		{"12 deep", nested(12), ""},
		{"13 deep", nested(13), "deeper than 12"},
		{"deep by fragments", "{feed{nodes{...A}}} fragment A on Post{author{posts{nodes{...B}}}} fragment B on Post{author{posts{nodes{...C}}}} fragment C on Post{author{posts{nodes{author{id}}}}}", "deeper than 12"},
		{"a fragment in itself", "{feed{nodes{...A}}} fragment A on Post{author{posts{nodes{...A}}}}", "spread itself"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newServer(t, nil).query(c.query)
			switch found := strings.Contains(r.Body.String(), c.message); {
			case c.message == "" && len(r.Errors) > 0:
				t.Errorf("refused: %s", r.Body)
			case c.message != "" && (!found || r.Data != nil):
				t.Errorf("want %q, got %s", c.message, r.Body)
			}
			if len(r.Errors) > 10 {
				t.Errorf("%d errors in one answer", len(r.Errors))
			}
			for _, code := range strings.Fields(r.codes()) {
				if code != "BAD_USER_INPUT" {
					t.Errorf("code %s", code)
				}
			}
		})
	}
}

// Fragments that spread one another twice, many times over, must not take time that doubles with each.
func TestFragmentsThatDouble(t *testing.T) {
	var b strings.Builder
	b.WriteString("{viewer{...F0}}")
	for i := range 100 {
		fmt.Fprintf(&b, " fragment F%d on User{...F%d ...F%d}", i, i+1, i+1)
	}
	b.WriteString(" fragment F100 on User{id}")
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
	if r := production.query(introspect); r.codes() != "BAD_USER_INPUT BAD_USER_INPUT" || r.Data != nil {
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
