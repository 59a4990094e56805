package resolvers_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"cosmosblog/blog"
	"cosmosblog/guard/limits"
)

// Query.nodes resolves in goroutines that gqlgen did not start. A panic there becomes an INTERNAL
// error, too.
func TestPanicBelowNodes(t *testing.T) {
	broken := false
	s := newServerVia(t, func(engine http.Handler) http.Handler {
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
	if message := s.anonymous().rejected(blog.Internal, `query($id:ID!){nodes(ids:[$id]){id}}`, "id", comment); strings.Contains(message, "S3CRET") {
		t.Error(message)
	}
}

// After its deadline, an operation reads nothing more. The log has one line for all of its
// fields.
func TestDeadline(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	requests, seeded := 0, false
	s := newServerVia(t, func(engine http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			engine.ServeHTTP(w, r)
			if seeded {
				requests++
				cancel()
			}
		})
	})
	createLists(s)
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

// When an operation times out, its requests to a database that does not respond are cancelled.
func TestSlowDatabase(t *testing.T) {
	if faultProfiles[*faultsFlag].behind {
		t.Skip("the follower answers the read of a mutation, and a write to two engines cannot be cancelled")
	}
	hangs, cancelled := false, make(chan struct{}, 10)
	s := newServerVia(t, func(engine http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if hangs {
				<-r.Context().Done()
				cancelled <- struct{}{}
			}
			engine.ServeHTTP(w, r)
		})
	})
	ann := s.user("Ann")
	post := ann.post("Title", "Content")
	limit := limits.Default()
	limit.Time = 20 * time.Millisecond
	s.setLimits(limit)
	hangs = true
	for _, c := range []struct {
		query     string
		variables []any
	}{
		{`{feed{nodes{id}}}`, nil},
		{`query($p:ID!){nodes(ids:[$p]){id ... on Post{content comments{nodes{id}}}}}`, []any{"p", post}},
		{`mutation($p:ID!){likePost(input:{postId:$p}){like{id}}}`, []any{"p", post}},
	} {
		r := ann.send(c.query, c.variables...)
		if len(r.Errors) == 0 || r.Errors[0].Extensions["code"] != "TIMEOUT" || r.Errors[0].Extensions["retryAfterMs"] == nil || r.Data["likePost"] != nil || len(r.Data) > 1 {
			t.Errorf("%s: %v with %v", c.query, r.Errors, r.Data)
		}
		<-cancelled
	}
}
