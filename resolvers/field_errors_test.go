package resolvers_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// fieldsOf returns code and field of each error, sorted: `BAD_USER_INPUT ["input","title"]`.
func fieldsOf(t *testing.T, r reply) string {
	t.Helper()
	var fields []string
	for _, e := range r.Errors {
		path, err := json.Marshal(e.Extensions["field"])
		if err != nil {
			t.Fatal(err)
		}
		fields = append(fields, fmt.Sprint(e.Extensions["code"], " ", string(path)))
	}
	slices.Sort(fields)
	return strings.Join(fields, "\n")
}

const (
	invalid        = "BAD_USER_INPUT "
	invalidLiteral = "GRAPHQL_VALIDATION_FAILED "
)

// One answer has one error for each invalid argument or input field, with its path.
func TestFieldsOfErrors(t *testing.T) {
	s := newServer(t)
	ann := s.user("Ann")
	s.user("Bob")
	post := ann.post("Title", "Content")
	const (
		create = `mutation($i:CreatePostInput!){createPost(input:$i){post{id}}}`
		update = `mutation($i:UpdatePostInput!){a:updatePost(input:$i){post{id}}}`
		say    = `mutation($i:CreateCommentInput!){createComment(input:$i){post{id}}}`
		feed   = `query($n:Int,$a:String){feed(first:$n,after:$a){nodes{id}}}`
	)
	type object = map[string]any
	for name, c := range map[string]struct {
		query string
		value any // of the variable i
		want  []string
	}{
		"rules":                    {create, object{"title": " ", "content": "", "idempotencyKey": ""}, []string{invalid + `["input","content"]`, invalid + `["input","idempotencyKey"]`, invalid + `["input","title"]`}},
		"one rule":                 {create, object{"title": "Title", "content": "Content", "idempotencyKey": strings.Repeat("x", 201)}, []string{invalid + `["input","idempotencyKey"]`}},
		"types":                    {create, object{"title": 1, "content": true, "idempotencyKey": []any{}}, []string{invalid + `["input","content"]`, invalid + `["input","idempotencyKey"]`, invalid + `["input","title"]`}},
		"a type and a rule":        {create, object{"title": 1, "content": " "}, []string{invalid + `["input","content"]`, invalid + `["input","title"]`}},
		"missing fields":           {create, object{"idempotencyKey": " "}, []string{invalid + `["input","content"]`, invalid + `["input","idempotencyKey"]`, invalid + `["input","title"]`}},
		"null":                     {create, object{"title": nil, "content": "Content"}, []string{invalid + `["input","title"]`}},
		"an unknown field":         {create, object{"title": "", "content": "Content", "colour": 1}, []string{invalid + `["input","colour"]`, invalid + `["input","title"]`}},
		"unknown fields":           {create, object{"title": "Title", "content": "Content", "colour": 1, "Size": nil}, []string{invalid + `["input","Size"]`, invalid + `["input","colour"]`}},
		"names of no field":        {create, object{"title": "Title", "content": "Content", "": 1, "<b>": 1, strings.Repeat("x", 65): 1}, []string{invalid + `["input"]`, invalid + `["input"]`, invalid + `["input"]`}},
		"tags":                     {create, object{"title": "Title", "content": "Content", "tags": []any{"go", "Go", strings.Repeat("x", 31), "go"}}, []string{invalid + `["input","tags",1]`, invalid + `["input","tags",2]`, invalid + `["input","tags",3]`}},
		"six tags":                 {create, object{"title": "", "content": "Content", "tags": []any{"a", "b", "c", "d", "e", "f"}}, []string{invalid + `["input","tags"]`, invalid + `["input","title"]`}},
		"a tag and a type":         {update, object{"id": post, "title": 1, "tags": []any{"a", "B"}}, []string{invalid + `["input","tags",1]`, invalid + `["input","title"]`}},
		"a tag of another type":    {update, object{"id": post, "tags": []any{1, nil}}, []string{invalid + `["input","tags",0]`, invalid + `["input","tags",1]`}},
		"no object":                {create, 5, []string{invalid + `["input"]`}},
		"an id and rules":          {update, object{"id": "x", "title": "", "content": "\u202e"}, []string{invalid + `["input","content"]`, invalid + `["input","id"]`, invalid + `["input","title"]`}},
		"another type's id":        {update, object{"id": ann.id, "title": ""}, []string{invalid + `["input","id"]`, invalid + `["input","title"]`}},
		"an id, a rule and a type": {update, object{"id": ann.id, "title": "", "version": "1"}, []string{invalid + `["input","id"]`, invalid + `["input","title"]`, invalid + `["input","version"]`}},
		"a comment":                {say, object{"postId": "x", "content": "", "idempotencyKey": " "}, []string{invalid + `["input","content"]`, invalid + `["input","idempotencyKey"]`, invalid + `["input","postId"]`}},
		"a username":               {`mutation($i:UpdateUserInput!){updateUser(input:$i){user{id}}}`, object{"username": "x"}, []string{invalid + `["input","username"]`}},
		"a taken username":         {`mutation($i:UpdateUserInput!){updateUser(input:$i){user{id}}}`, object{"username": "bob"}, []string{`USERNAME_TAKEN ["input","username"]`}},
		"a confirmation":           {`mutation($i:DeleteUserInput!){deleteUser(input:$i){user{id}}}`, object{"username": "Bob"}, []string{invalid + `["input","username"]`}},
		"a user's two fields":      {`mutation($i:CreateUserInput!){createUser(input:$i){user{id}}}`, object{"username": "x", "idempotencyKey": ""}, []string{invalid + `["input","idempotencyKey"]`, invalid + `["input","username"]`}},
		"a variable for a field":   {`mutation($i:ID!){likePost(input:{postId:$i}){post{id}}}`, 5, []string{invalid + `["input","postId"]`}},
		"ids":                      {`query($i:[ID!]!){nodes(ids:$i){id}}`, []any{post, "x", ann.id, ""}, []string{invalid + `["ids",1]`, invalid + `["ids",3]`}},
		"types of ids":             {`query($i:[ID!]!){nodes(ids:$i){id}}`, []any{post, true, nil}, []string{invalid + `["ids",1]`, invalid + `["ids",2]`}},
		"no ids":                   {`query($i:[ID!]!){nodes(ids:$i){id}}`, []any{}, []string{invalid + `["ids"]`}},
		"an argument":              {`query($i:ID!){user(id:$i){id}}`, post, []string{invalid + `["id"]`}},
	} {
		r := ann.send(c.query, "i", c.value)
		if got := fieldsOf(t, r); got != strings.Join(c.want, "\n") {
			t.Errorf("%s:\n%s\nwant\n%s\n%v", name, got, strings.Join(c.want, "\n"), r.Errors)
		}
	}
	for query, want := range map[string][]string{
		`{tag(name:"Go"){name} archive(month:"2026-13"){month} b:archive(month:"2026-1"){month}}`:         {invalid + `["month"]`, invalid + `["month"]`, invalid + `["name"]`},
		`{tags(first:101){name} archiveMonths(first:-1,before:"x"){month}}`:                               {invalid + `["before"]`, invalid + `["first"]`, invalid + `["first"]`},
		`{tag(name:"go"){posts(first:-1,after:"x"){nodes{id}}}}`:                                          {invalid + `["after"]`, invalid + `["first"]`},
		`{feed(first:-1,after:"x"){nodes{id}}}`:                                                           {invalid + `["after"]`, invalid + `["first"]`},
		`{user(id:"x"){id} b:userByUsername(username:""){id} c:node(id:"x"){id}}`:                         {invalid + `["id"]`, invalid + `["id"]`, invalid + `["username"]`},
		`{feed(first:99999999999){nodes{id}}}`:                                                            {invalidLiteral + `["first"]`},
		`{feed(first:1){nodes{comments(first:101){nodes{id}}}}}`:                                          {invalid + `["first"]`},
		`mutation{createPost(input:{title:"",content:""}){post{id}}}`:                                     {invalid + `["input","content"]`, invalid + `["input","title"]`},
		`mutation{createPost(input:{title:1,content:true}){post{id}}}`:                                    {invalidLiteral + `["input","content"]`, invalidLiteral + `["input","title"]`},
		`mutation{createPost(input:{title:"x"}){post{id}}}`:                                               {invalidLiteral + `["input","content"]`},
		`mutation{createPost(input:{}){post{id}}}`:                                                        {invalidLiteral + `["input","content"]`, invalidLiteral + `["input","title"]`},
		`mutation{createPost(input:{title:"x",content:"x",colour:1}){post{id}}}`:                          {invalidLiteral + `["input","colour"]`},
		`mutation{createPost(input:{title:1,colour:{a:[1]}}){post{id}}}`:                                  {invalidLiteral + `["input","colour"]`, invalidLiteral + `["input","content"]`, invalidLiteral + `["input","title"]`},
		`mutation{createPost(input:{title:"x",content:"x",` + strings.Repeat("x", 65) + `:1}){post{id}}}`: {invalidLiteral + `["input"]`},
		`{user{id}}`: {invalidLiteral + `["id"]`},
		`mutation{a:likePost(input:{postId:"x"}){post{id}} b:updateUser(input:{username:""}){user{id}}}`: {invalid + `["input","postId"]`, invalid + `["input","username"]`},
	} {
		if got := fieldsOf(t, ann.send(query)); got != strings.Join(want, "\n") {
			t.Errorf("%s:\n%s\nwant\n%s", query, got, strings.Join(want, "\n"))
		}
	}
	if got := fieldsOf(t, ann.send(feed, "n", "5", "a", 5)); got != invalid+"[\"after\"]\n"+invalid+`["first"]` {
		t.Errorf("two variables: %s", got)
	}
}
