package resolvers_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"cosmosblog/blog"
)

// failingEngine responds with a status instead of the engine while the status is set.
type failingEngine struct {
	engine http.Handler
	status atomic.Int64
}

func (f *failingEngine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	status := f.status.Load()
	if status == 0 {
		f.engine.ServeHTTP(w, r)
		return
	}
	w.Header().Set("x-ms-retry-after-ms", "3")
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(int(status))
	_, _ = w.Write([]byte(`{"code":"S3CRET","message":"S3CRET"}`))
}

func TestDatabaseErrors(t *testing.T) {
	skipUnderFaults(t)
	f := &failingEngine{}
	s := newServerVia(t, func(engine http.Handler) http.Handler {
		f.engine = engine
		return f
	})
	ann := s.user("Ann")
	post := ann.post("Title", "Content")
	for _, c := range []struct {
		status int64
		code   blog.Code
	}{{429, blog.Throttled}, {403, blog.Internal}, {400, blog.Internal}} {
		f.status.Store(c.status)
		for _, query := range []string{readPost, readComments, likePost, createComment} {
			r := ann.send(query, "p", post, "c", "Hi")
			if len(r.Errors) != 1 || r.Errors[0].Extensions["code"] != string(c.code) || strings.Contains(r.Errors[0].Message, "S3CRET") {
				t.Errorf("%d: %s: %v", c.status, query, r.Errors)
				continue
			}
			if retry, _ := r.Errors[0].Extensions["retryAfterMs"].(float64); (retry > 0) != (c.code == blog.Throttled) {
				t.Errorf("%d: retryAfterMs is %v", c.status, retry)
			}
			if requests := r.Extensions.Cosmos.Requests; len(requests) == 0 || requests[0].Status != int(c.status) {
				t.Errorf("%d: recorded %v", c.status, requests)
			}
		}
		f.status.Store(0)
	}
	ann.ask(readPost, "p", post).is("post.likeCount", 0)
}

// If a batched read fails, each field has its own error, after a single request.
func TestErrorOfBatchedRead(t *testing.T) {
	skipUnderFaults(t)
	f := &failingEngine{}
	s := newServerVia(t, func(engine http.Handler) http.Handler {
		f.engine = engine
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Path, "/colls/posts/") && f.status.Load() != 0 {
				f.ServeHTTP(w, r)
				return
			}
			engine.ServeHTTP(w, r)
		})
	})
	ann := s.user("Ann")
	ann.post("One", "Content")
	ann.post("Two", "Content")
	f.status.Store(403)
	r := ann.send(`{viewer{username} feed{nodes{content}}}`)
	if len(r.Errors) != 2 {
		t.Errorf("got %v with %v", r.Errors, r.Data)
	}
	r.is("feed.nodes.1.content", nil)
	for _, e := range r.Errors {
		if e.Extensions["code"] != "INTERNAL" || e.Extensions["errorId"] == "" || len(e.Path) != 4 {
			t.Errorf("got %v", e)
		}
	}
	if n := len(r.Extensions.Cosmos.Requests); n != 3 {
		t.Errorf("%d requests, want one for the viewer, one for the feed and one for all contents", n)
	}
}
