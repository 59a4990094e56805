package resolvers_test

import (
	"fmt"
	"strings"
	"testing"

	"cosmosblog/blog"
)

// createLists creates four posts of one author, each with two comments.
func createLists(s *server) (ann *client) {
	ann = s.user("Ann")
	for i := range 4 {
		post := ann.post(fmt.Sprint("Post ", i), "Content")
		ann.comment(post, "Hi")
		ann.comment(post, "Ho")
	}
	return ann
}

// Deeply nested lists are rejected by their size, before anything is read.
func TestNestedLists(t *testing.T) {
	s := newServer(t)
	createLists(s)
	nested := func(first int) string {
		return strings.ReplaceAll(`{viewer{id} feed(first:N){nodes{comments(first:N){nodes{author{posts(first:N){nodes{comments(first:N){nodes{
			author{posts(first:N){nodes{__typename}}}}}}}}}}}}}`, "N", fmt.Sprint(first))
	}
	s.anonymous().ask(nested(2))
	s.anonymous().rejected(blog.CostLimitExceeded, nested(100))
}

// Aliases of the same page share one read.
func TestAliasesShareOneRead(t *testing.T) {
	var query strings.Builder
	for i := range 14 {
		fmt.Fprintf(&query, "a%d: feed(first:100){nodes{id}} ", i)
	}
	newServer(t).anonymous().ask("{" + query.String() + "}").sentOperations("feed query")
}

// Equal pages below different fields share one read.
func TestEqualPagesShareOneRead(t *testing.T) {
	s := newServer(t)
	ann := createLists(s)
	r := ann.ask(`{feed(first:4){nodes{comments(first:4){nodes{author{posts(first:3){nodes{id}}} post{likes(first:4){nodes{id}}}}}}}}`)
	queries := map[string]int{}
	for _, q := range r.Extensions.Cosmos.Requests {
		queries[q.Container+" "+q.Operation]++
	}
	want := map[string]int{"feed query": 1, "posts readMany": 1, "posts query": 8, "users read": 1, "users query": 1}
	if fmt.Sprint(queries) != fmt.Sprint(want) {
		t.Errorf("sent %v, want %v", queries, want)
	}
}
