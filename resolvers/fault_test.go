package resolvers_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"cosmosblog/internal/blog"
)

// refusing stands before the engine and answers in its place while a status is set.
type refusing struct {
	engine http.Handler
	status atomic.Int64
}

func (f *refusing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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

func TestFaultsOfTheDatabase(t *testing.T) {
	skipUnderFaults(t)
	f := &refusing{}
	s := newServerOver(t, func(engine http.Handler) http.Handler {
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

// Where what the posts of a list need cannot be read, each field has an error of its own, after one request for all of
// them.
func TestFaultInABatch(t *testing.T) {
	skipUnderFaults(t)
	f := &refusing{}
	s := newServerOver(t, func(engine http.Handler) http.Handler {
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
	if len(r.Errors) != 2 || r.Data != nil {
		t.Errorf("got %v with %v", r.Errors, r.Data)
	}
	for _, e := range r.Errors {
		if e.Extensions["code"] != "INTERNAL" || e.Extensions["errorId"] == "" || len(e.Path) != 4 {
			t.Errorf("got %v", e)
		}
	}
	if n := len(r.Extensions.Cosmos.Requests); n != 3 {
		t.Errorf("%d requests, want one for the viewer, one for the feed and one for all contents", n)
	}
}

// skipUnderFaults is for tests that bring faults of their own.
func skipUnderFaults(t *testing.T) {
	t.Helper()
	if *faultsFlag != "" {
		t.Skip("this test has faults of its own")
	}
}
