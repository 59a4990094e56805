package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// fuzzSite is a site that handles requests without the network.
type fuzzSite struct{ *site }

// sendBody sends a body as Ann.
func (s fuzzSite) sendBody(body string) *httptest.ResponseRecorder {
	request := httptest.NewRequest("POST", "http://127.0.0.1/graphql", strings.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", newerType)
	request.Header.Set("Authorization", "Bearer Ann")
	recorder := httptest.NewRecorder()
	s.handler.ServeHTTP(recorder, request)
	return recorder
}

// clientCodes are the error codes that a client can cause.
var clientCodes = []string{
	"BAD_USER_INPUT", "GRAPHQL_PARSE_FAILED", "GRAPHQL_VALIDATION_FAILED", "LIMIT_EXCEEDED", "COST_LIMIT_EXCEEDED",
	"NOT_FOUND", "FORBIDDEN", "CONFLICT", "IDEMPOTENCY_KEY_REUSED", "ACCOUNT_HAS_USER", "USERNAME_TAKEN",
}

// check checks that a response is JSON with an expected status, and that its errors are the
// client's.
func (s fuzzSite) check(t *testing.T, body string, recorder *httptest.ResponseRecorder) reply {
	t.Helper()
	r := reply{ResponseRecorder: recorder}
	if err := json.Unmarshal(recorder.Body.Bytes(), &r); err != nil {
		t.Fatalf("%q: the response is not JSON: %v: %.1000s", body, err, recorder.Body)
	}
	if r.Code != http.StatusOK && (r.Code != http.StatusBadRequest || r.Data != nil) {
		t.Errorf("%q: status %d: %.1000s", body, r.Code, r.Body)
	}
	for _, code := range strings.Fields(r.codes()) {
		if !slices.Contains(clientCodes, code) {
			t.Errorf("%q: code %s: %.1000s\n%s", body, code, r.Body, s.log)
		}
	}
	if len(r.Errors) > 10 || len(r.Errors) > 0 && r.Body.Len() > 100_000 || len(r.Errors) == 0 && r.Data == nil {
		t.Errorf("%q: %d errors, %d bytes: %.1000s", body, len(r.Errors), r.Body.Len(), r.Body)
	}
	return r
}

func quoted(text string) string {
	q, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(q)
}

// exampleQueries use all of the schema.
var exampleQueries = []string{
	`query A($n:Int=3,$after:String){feed(first:$n,after:$after){edges{cursor node{id}} nodes{...P} pageInfo{hasNextPage hasPreviousPage startCursor endCursor}}} fragment P on Post{
	id title excerpt content author{id username} commentCount likeCount creationDate updatedDate version viewerHasLiked comments(first:2){nodes{id content author{id}}} likes{nodes{id user{id}}}}`,
	`{viewer{id username creationDate postCount posts(first:1){nodes{id}}} userByUsername(username:"Ann"){__typename id} a:__typename @skip(if:false)}`,
	`query($ids:[ID!]!){nodes(ids:$ids){__typename id ...on User{username} ...on Post{title} ...on Comment{content post{id}} ...on Like{user{id} post{id}}}}`,
	`mutation{createPost(input:{title:"a",content:"""b
	c""",idempotencyKey:"k"}){post{id}} createComment(input:{postId:"x",content:"y"}){comment{id} post{id}}}`,
	`mutation($i:UpdatePostInput!){updatePost(input:$i){post{id version}} likePost(input:{postId:"x"}){like{id}} unlikePost(input:{postId:"x"}){post{id}}}`,
	`query A @include(if:true){user(id:"u_aaaaaaaaaaaaaaaaaaaaaaaaaa"){...{username}}} query B{__type(name:"Post"){name fields{name args{name defaultValue}}} __schema{queryType{name}}} subscription C{x}`,
}

// FuzzDocument sends arbitrary queries.
func FuzzDocument(f *testing.F) {
	for _, query := range slices.Concat(exampleQueries, misspelt, introspections) {
		f.Add(query, true)
		f.Add(query, false)
	}
	for _, a := range attacks {
		var request struct{ Query string }
		if len(a.body) < 3000 && json.Unmarshal([]byte(a.body), &request) == nil {
			f.Add(request.Query, true)
		}
	}
	production, development := fuzzSite{newSite(f, false)}, fuzzSite{newSite(f, true)}
	f.Fuzz(func(t *testing.T, query string, develop bool) {
		s := production
		if develop {
			s = development
		}
		body := `{"query":` + quoted(query) + `}`
		s.check(t, body, s.sendBody(body))
	})
}

// FuzzRequest sends arbitrary bodies.
func FuzzRequest(f *testing.F) {
	for _, a := range attacks {
		if len(a.body) < 3000 {
			f.Add(a.body)
		}
	}
	for _, query := range exampleQueries {
		f.Add(`{"query":` + quoted(query) + `,"variables":{"n":1,"after":null,"ids":[],"i":{"id":"x"}},"operationName":"A","extensions":{}}`)
	}
	s := fuzzSite{newSite(f, true)}
	f.Fuzz(func(t *testing.T, body string) { s.check(t, body, s.sendBody(body)) })
}

// withVariables are queries with one variable x of various types.
var withVariables = []string{
	`query($x:Int){feed(first:$x){nodes{id}}}`, `query($x:[ID!]!){nodes(ids:$x){id}}`, `query($x:String!){userByUsername(username:$x){id}}`,
	`query($x:Boolean!){feed{nodes{id @include(if:$x)}}}`, `query($x:ID!){post(id:$x){id}}`, `query($x:Int=5){a:feed(first:$x){nodes{comments(first:$x){nodes{id}}}}}`,
	`mutation($x:CreatePostInput!){createPost(input:$x){post{id title content}}}`, `mutation($x:UpdatePostInput!){updatePost(input:$x){post{id}}}`,
	`mutation($x:CreateCommentInput!){createComment(input:$x){comment{id}}}`, `mutation($x:UpdateUserInput!){updateUser(input:$x){user{id}}}`,
	`query($x:Float){__typename @include(if:$x)}`, `query($x:[[[Int]]]){__typename}`, `query($x:DateTime){__typename}`,
}

// FuzzVariables sends arbitrary variables.
func FuzzVariables(f *testing.F) {
	s := fuzzSite{newSite(f, true)}
	for i := range withVariables {
		for _, x := range []string{`1`, `-1`, `1e400`, `"a"`, `"\ud83d\ude00"`, `null`, `true`, `["a"]`, `[[1]]`, `{}`, `{"a":1}`, `{"title":"a","content":"b","idempotencyKey":"c"}`,
			`{"id":"` + s.post + `","title":"x","version":1}`, `{"postId":"` + s.post + `","content":"x"}`, `{"username":"Ann"}`, `["` + s.post + `","` + s.like + `"]`} {
			f.Add(i, `{"x":`+x+`}`)
		}
	}
	f.Fuzz(func(t *testing.T, i int, variables string) {
		query := withVariables[uint(i)%uint(len(withVariables))]
		body := `{"query":` + quoted(query) + `,"variables":` + variables + `}`
		s.check(t, body, s.sendBody(body))
	})
}

// withID are queries with an id x as an argument or in an input.
var withID = []string{
	`query($x:ID!){node(id:$x){id}}`, `query($x:ID!){nodes(ids:[$x,$x]){id}}`, `query($x:ID!){user(id:$x){id posts{nodes{id}}}}`, `query($x:ID!){post(id:$x){id content}}`,
	`mutation($x:ID!){updatePost(input:{id:$x,title:"T"}){post{id}}}`, `mutation($x:ID!){deletePost(input:{id:$x}){post{id}}}`, `mutation($x:ID!){likePost(input:{postId:$x}){post{id}}}`,
	`mutation($x:ID!){createComment(input:{postId:$x,content:"C"}){post{id}}}`, `mutation($x:ID!){deleteComment(input:{id:$x}){post{id}}}`,
}

// FuzzID sends arbitrary ids. An object that is found must have the id that was sent.
func FuzzID(f *testing.F) {
	s := fuzzSite{newSite(f, false)}
	for i := range withID {
		for _, id := range slices.Concat(injections, []string{s.post, s.deletedPost, s.comment, s.orphanedComment, s.like, "u_aaaaaaaaaaaaaaaaaaaaaaaaaa", ""}) {
			f.Add(i, id)
		}
	}
	f.Fuzz(func(t *testing.T, i int, id string) {
		body := `{"query":` + quoted(withID[uint(i)%uint(len(withID))]) + `,"variables":{"x":` + quoted(id) + `}}`
		r := s.check(t, body, s.sendBody(body))
		var data struct{ Node, User, Post *struct{ ID string } }
		if len(r.Errors) > 0 || json.Unmarshal(r.Data, &data) != nil {
			return
		}
		for _, found := range []*struct{ ID string }{data.Node, data.User, data.Post} {
			if found != nil && found.ID != id {
				t.Errorf("%q returns the object %q", id, found.ID)
			}
		}
	})
}

// FuzzCursor sends arbitrary cursors to every list.
func FuzzCursor(f *testing.F) {
	s := fuzzSite{newSite(f, false)}
	lists := []string{
		`query($x:String){feed(after:$x){edges{cursor}}}`,
		`query($x:String){viewer{posts(after:$x){edges{cursor}}}}`,
		fmt.Sprintf(`query($x:String){post(id:%q){comments(after:$x){edges{cursor}}}}`, s.post),
		fmt.Sprintf(`query($x:String){post(id:%q){likes(after:$x){edges{cursor}}}}`, s.post),
	}
	for i, list := range lists {
		answer := s.sendBody(`{"query":` + quoted(list) + `}`).Body.String()
		_, rest, _ := strings.Cut(answer, `"cursor":"`)
		cursor, _, _ := strings.Cut(rest, `"`)
		for _, c := range append(injections, cursor, "") {
			f.Add(i, c)
		}
	}
	f.Fuzz(func(t *testing.T, i int, cursor string) {
		body := `{"query":` + quoted(lists[uint(i)%uint(len(lists))]) + `,"variables":{"x":` + quoted(cursor) + `}}`
		s.check(t, body, s.sendBody(body))
	})
}
