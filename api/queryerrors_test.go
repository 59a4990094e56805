package api_test

import (
	"slices"
	"strings"
	"testing"
)

// queryErrors are invalid queries and their messages. Messages name a location and names of the
// schema, and never repeat the request.
var queryErrors = []struct{ name, body, message string }{
	{"syntax", `{"query":"{"}`, "The query has a syntax error: expected a name, found the end of the query."},
	{"a character", `{"query":"{viewer{id}} \\S3CRET"}`, "The query has a syntax error: this character is not allowed here."},
	{"an open string", `{"query":"{user(id:\"S3CRET){id}}"}`, "The query has a syntax error: a string has no end."},
	{"a single name", `{"query":"S3CRET"}`, "The query has a syntax error: expected an operation or a fragment, found a name."},
	{"no operation", `{"query":"fragment S3CRET on User{id}"}`, "The query has no operation."},
	{"an unknown operation", `{"query":"query A{__typename}","operationName":"S3CRET"}`, "The query has no operation with the name in `operationName`."},
	{"several operations", `{"query":"query A{__typename} query S3CRET{__typename}"}`, "The query has several operations. Name the one to execute in `operationName`."},
	{"an unknown field", `{"query":"{S3CRET}"}`, "The type Query has no such field."},
	{"a deferred fragment", `{"query":"{...@defer{viewer{id}}}"}`, "The schema has no such directive."},
	{"an unknown argument", `{"query":"{user(S3CRET:1){id}}"}`, "Query.user has no such argument."},
	{"a missing argument", `{"query":"{user{id}}"}`, "The argument id of type ID! is required."},
	{"a value", `{"query":"{feed(first:\"S3CRET\"){nodes{id}}}"}`, "Expected a value of type Int."},
	{"a misleading value", `{"query":"{feed(first:\"S3CRET Did you mean it?\"){nodes{id}}}"}`, "Expected a value of type Int."},
	{"an unknown type", `{"query":"{viewer{...F}} fragment F on S3CRET{id}"}`, "The schema has no such type."},
	{"an unknown fragment", `{"query":"{viewer{...S3CRET}}"}`, "The query has no such fragment."},
	{"an unused fragment", `{"query":"{viewer{id}} fragment S3CRET on User{id}"}`, "A fragment is never used. Spread it or remove it."},
	{"an unused variable", `{"query":"query($S3CRET:Int){viewer{id}}"}`, "A variable is never used. Use it or remove it."},
	{"an undefined variable", `{"query":"{feed(first:$S3CRET){nodes{id}}}"}`, "The operation does not define this variable."},
	{"no selection", `{"query":"{S3CRET:viewer}"}`, "A field of type User needs a selection of subfields."},
	{"a selection", `{"query":"{viewer{S3CRET:id{__typename}}}"}`, "The type ID has no subfields. Remove the selection."},
	{"a conflict", `{"query":"{viewer{S3CRET:id S3CRET:username}}"}`, "Two different fields have the same name in the response. Give one of them an alias."},
	{"an unknown field of an input", `{"query":"mutation{updateUser(input:{username:\"x\",S3CRET:1}){user{id}}}"}`, "The type UpdateUserInput has no such field."},
	{"a missing field of an input", `{"query":"mutation{updateUser(input:{}){user{id}}}"}`, "UpdateUserInput.username of type String! is required."},

	{"a missing variable", `{"query":"query($S3CRET:String!){userByUsername(username:$S3CRET){id}}"}`, "The variable is required."},
	{"a variable's type", `{"query":"query($u:String!){userByUsername(username:$u){id}}","variables":{"u":{}}}`, "The variable must be a value of type String."},
	{"a fraction", `{"query":"query($n:Int){feed(first:$n){nodes{id}}}","variables":{"n":1.5}}`, "The variable must be a value of type Int."},
	{"an input's field", `{"query":"mutation($i:UpdateUserInput!){updateUser(input:$i){user{id}}}","variables":{"i":{}}}`, "`username` of the variable is required."},
	{"an input's unknown field", `{"query":"mutation($i:UpdateUserInput!){updateUser(input:$i){user{id}}}","variables":{"i":{"S3CRET":1}}}`, "The variable has a field that its type does not define."},
	{"a number for a text", `{"query":"query($u:String!){userByUsername(username:$u){id}}","variables":{"u":12345}}`, "The variable must be a value of type String."},
	{"a long name", `{"query":"{` + strings.Repeat("x", 5000) + `}"}`, "The query has a name or a number of more than 200 characters."},
}

// repeatsRequest reports whether a response has the marker anywhere but in extensions.field, the
// path of an unknown field of an input.
func repeatsRequest(r reply) bool {
	return strings.Contains(strings.ReplaceAll(r.Body.String(), `"field":["input","S3CRET"]`, ""), "S3CRET")
}

// hasCodeFor reports whether all errors have the code of the phase that a message belongs to.
func hasCodeFor(message string, r reply) bool {
	want := "GRAPHQL_VALIDATION_FAILED"
	switch {
	case strings.Contains(message, "syntax error"), message == "The query has no operation.":
		want = "GRAPHQL_PARSE_FAILED"
	case strings.Contains(message, "more than"), strings.Contains(message, "too deeply"):
		want = "LIMIT_EXCEEDED"
	case strings.Contains(message, "The variable has a"), strings.Contains(message, "he variable is required"), strings.Contains(message, "ariable must be"),
		strings.Contains(message, "operationName"):
		want = "BAD_USER_INPUT"
	}
	codes := strings.Fields(r.codes())
	return len(codes) > 0 && !slices.ContainsFunc(codes, func(code string) bool { return code != want })
}

func TestQueryErrors(t *testing.T) {
	s := newServer(t, nil)
	for _, c := range queryErrors {
		t.Run(c.name, func(t *testing.T) {
			r := s.post(c.body)
			if !hasCodeFor(c.message, r) || r.Errors[0].Message != c.message {
				t.Fatalf("got %s, want %q", r.Body, c.message)
			}
			if repeatsRequest(r) || r.Body.Len() > 1000 || string(r.Data) != "" && r.Errors[0].Path == nil {
				t.Errorf("the response repeats the request, is too long or has data: %.1000s", r.Body)
			}
			if operation := strings.Contains(c.message, "peration"); r.Errors[0].Locations == nil && !operation {
				t.Errorf("without a location: %s", r.Body)
			}
		})
	}
}

// TestQueryErrorsInDevelopment checks that development suggests names of the schema, and nothing
// else.
func TestQueryErrorsInDevelopment(t *testing.T) {
	s := newServer(t, inDevelopment)
	for _, c := range queryErrors {
		if r := s.post(c.body); repeatsRequest(r) {
			t.Errorf("%s: %s", c.name, r.Body)
		}
	}
	if r := s.query("{viewr{id}}"); r.Errors[0].Message != `The type Query has no such field. Did you mean "viewer" or "user"?` {
		t.Errorf("got %s", r.Body)
	}
}
