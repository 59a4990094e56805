package resolvers_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"cosmosblog/internal/blog"
	"cosmosblog/internal/limits"
)

// seedLists makes posts of one author, each with comments.
func seedLists(s *server) (ann *client) {
	ann = s.user("Ann")
	for i := range 4 {
		post := ann.post(fmt.Sprint("Post ", i), "Content")
		ann.comment(post, "Hi")
		ann.comment(post, "Ho")
	}
	return ann
}

// Lists within lists within lists are refused by what they ask for, before any of it is read.
func TestListsWithinLists(t *testing.T) {
	s := newServer(t)
	seedLists(s)
	nested := func(first int) string {
		return strings.ReplaceAll(`{viewer{id} feed(first:N){nodes{comments(first:N){nodes{author{posts(first:N){nodes{comments(first:N){nodes{
			author{posts(first:N){nodes{__typename}}}}}}}}}}}}}`, "N", fmt.Sprint(first))
	}
	s.anonymous().ask(nested(2))
	s.anonymous().refused(blog.CostLimitExceeded, nested(100))
}

// What aliases ask for alike is read once, for whichever of them is first.
func TestAliasesOfOnePage(t *testing.T) {
	var query strings.Builder
	for i := range 20 {
		fmt.Fprintf(&query, "a%d: feed(first:100){nodes{id}} ", i)
	}
	newServer(t).anonymous().ask("{" + query.String() + "}").batch("feed query")
}

// What many fields ask for alike is read once.
func TestSamePageIsReadOnce(t *testing.T) {
	s := newServer(t)
	ann := seedLists(s)
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

// A panic below nodes, in a goroutine that gqlgen knows nothing of, is an error like any other.
func TestPanicBelowNodes(t *testing.T) {
	broken := false
	s := newServerOver(t, func(engine http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if broken {
				panic("S3CRET")
			}
			engine.ServeHTTP(w, r)
		})
	})
	ann := s.user("Ann")
	comment := ann.comment(ann.post("Title", "Content"), "Hi")
	broken = true
	if message := s.anonymous().refused(blog.Internal, `query($id:ID!){nodes(ids:[$id]){id}}`, "id", comment); strings.Contains(message, "S3CRET") {
		t.Error(message)
	}
}

// When the time is over, nothing more is read, and the log has one line.
func TestDeadline(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	requests, seeded := 0, false
	s := newServerOver(t, func(engine http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			engine.ServeHTTP(w, r)
			if seeded {
				requests++
				cancel()
			}
		})
	})
	seedLists(s)
	s.ctx, seeded = ctx, true
	r := s.anonymous().send(`{feed{nodes{id content comments{nodes{id}} likes{nodes{id}}}}}`)
	if len(r.Errors) == 0 || r.Data != nil || requests != 1 {
		t.Errorf("%d requests, %v with %v", requests, r.Errors, r.Data)
	}
	for _, e := range r.Errors {
		if e.Extensions["code"] != "INTERNAL" || e.Extensions["errorId"] != r.Errors[0].Extensions["errorId"] {
			t.Errorf("got %v", e)
		}
	}
	if n := strings.Count(s.log.String(), "a request failed"); n != 1 {
		t.Errorf("%d lines in the log:\n%s", n, s.log)
	}
}

// A database that does not answer is left alone when the operation's time is over: the request to it ends, and so does
// the one that waits for it.
func TestSlowDatabase(t *testing.T) {
	hangs, left := false, make(chan struct{}, 10)
	s := newServerOver(t, func(engine http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if hangs {
				<-r.Context().Done() // would wait for ever without a deadline
				left <- struct{}{}
			}
			engine.ServeHTTP(w, r)
		})
	})
	ann := s.user("Ann")
	post := ann.post("Title", "Content")
	limit := limits.Default()
	limit.Time = 20 * time.Millisecond
	s.grant(limit)
	hangs = true
	for _, c := range []struct {
		query     string
		variables []any
	}{
		{`{feed{nodes{id}}}`, nil},
		{`query($p:ID!){nodes(ids:[$p]){id ... on Post{content comments{nodes{id}}}}}`, []any{"p", post}},
		{`mutation($p:ID!){likePost(input:{postId:$p}){like{id}}}`, []any{"p", post}},
	} {
		if r := ann.send(c.query, c.variables...); len(r.Errors) == 0 || r.Errors[0].Extensions["code"] != "INTERNAL" || r.Data != nil {
			t.Errorf("%s: %v with %v", c.query, r.Errors, r.Data)
		}
		<-left
	}
}
