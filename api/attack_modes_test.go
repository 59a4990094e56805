package api_test

import (
	"net/url"
	"strings"
	"testing"
)

// misspelt are queries with names that are close to names of the schema.
var misspelt = []string{
	`{viewr{id}}`, `{user(idd:"x"){id}}`, `{viewer{...F}} fragment F on Usr{id}`, `mutation{createUser(input:{usernam:"x"}){user{id}}}`, `{viewer}`,
	`{node(id:"x"){title}}`, `{__typename @includ(if:true)}`, `query($x:Strin){__typename}`, `mutation($x:CreateUserInpu!){createUser(input:$x){user{id}}}`,
}

// introspections are queries for the schema.
var introspections = []string{
	`{__schema{queryType{name}}}`, `{__type(name:"Post"){name}}`, `query A{__typename ...{__schema{queryType{name}}}}`,
	`{...F} fragment F on Query{__type(name:"Post"){name}}`, `{a:__schema{types{name}}}`, `query($s:Boolean=true){__schema @skip(if:$s){queryType{name}}}`,
	`mutation{__schema{queryType{name}}}`, `{viewer{__schema{types{name}}}}`, "{__schema\n{queryType{name}}}", `query A{__typename} query B{__schema{queryType{name}}}`,
}

// TestSchemaIsHidden covers rows 19 and 20: in production, responses do not reveal the schema.
// Names of types and fields that the request already contains may be repeated.
func TestSchemaIsHidden(t *testing.T) {
	s := newSite(t, false)
	for _, query := range introspections {
		for _, r := range []reply{s.queryAs("", query), s.send("GET", "/graphql?query="+url.QueryEscape(query), "", "Accept", newerType)} {
			if r.Code != 400 || strings.Trim(r.codes(), "GRAPHQL_VALIDATION_FAILED ") != "" || r.codes() == "" || r.Data != nil || r.Body.Len() > 1000 {
				t.Errorf("%s: status %d: %s", query, r.Code, r.Body)
			}
		}
	}
	for _, query := range append(misspelt, introspections...) {
		if r := s.queryAs("", query); strings.Contains(r.Body.String(), "Did you mean") || strings.Contains(r.Body.String(), "perhaps") || len(r.Errors) == 0 {
			t.Errorf("%s: %s", query, r.Body)
		}
	}
}

// TestDeepIntrospection covers row 8: if introspection is enabled, clients' usual introspection
// query may nest deeper than other queries.
func TestDeepIntrospection(t *testing.T) {
	r := newSite(t, true).queryAs("", `{__schema{types{fields{type`+strings.Repeat("{kind name ofType", 9)+"{name"+strings.Repeat("}", 9)+`}}}}}`)
	if len(r.Errors) > 0 {
		t.Errorf("got %.1000s", r.Body)
	}
}

// TestDevelopmentRoutesAreOff covers row 21: production serves no query editor and no operator
// pages.
func TestDevelopmentRoutesAreOff(t *testing.T) {
	s := newSite(t, false)
	for _, path := range []string{"/", "/playground", "/playground/", "/playground/index.html", "/graphiql", "/altair", "/console", "/graphql/console", "/explorer",
		"/metrics", "/debug/pprof/", "/debug/vars", "/.git/config", "/schema.graphqls", "/schema.graphql", "/api/graphql"} {
		for _, accept := range []string{"text/html", "*/*"} {
			if r := s.send("GET", path, "", "Accept", accept); r.Code != 404 || r.codes() != "NOT_FOUND" || r.Body.Len() > 300 {
				t.Errorf("%s: status %d: %.500s", path, r.Code, r.Body)
			}
		}
	}
}

// TestDiagnosticsAreOff covers row 22: only development returns request charges.
func TestDiagnosticsAreOff(t *testing.T) {
	headers := []string{"Content-Type", "application/json", "X-Cosmos-Diagnostics", "1", "X-Apollo-Tracing", "1", "Apollo-Query-Plan-Experimental", "1"}
	const body = `{"query":"{feed{nodes{id}}}","extensions":{"tracing":true}}`
	if r := newSite(t, true).send("POST", "/graphql", body, headers...); !strings.Contains(r.Body.String(), "requestCharge") {
		t.Errorf("in development: %s", r.Body)
	}
	if r := newSite(t, false).send("POST", "/graphql", body, headers...); strings.Contains(r.Body.String(), "extensions") || len(r.Errors) > 0 {
		t.Errorf("in production: %s", r.Body)
	}
}

// TestWebPagesInDevelopment covers row 16: development rejects every request from foreign web
// pages.
func TestWebPagesInDevelopment(t *testing.T) {
	s := newSite(t, true)
	for _, headers := range [][]string{{"Origin", "http://evil.example"}, {"Origin", "null"}, {"Origin", "http://127.0.0.1.evil.example"}, {"Origin", "file://"}} {
		r := s.send("POST", "/graphql", `{"query":"{__typename}"}`, append([]string{"Content-Type", "application/json"}, headers...)...)
		if r.Code != 403 || r.codes() != "FORBIDDEN" || r.Header().Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%v: status %d, %v: %s", headers, r.Code, r.Header(), r.Body)
		}
	}
}
