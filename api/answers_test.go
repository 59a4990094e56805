package api_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"cosmosblog/api"
	"cosmosblog/blog"
)

// TestConcurrentAnswers requests different answers at once, because answers share their buffers.
// Their sizes differ too, from a few bytes to more than a buffer that is kept.
func TestConcurrentAnswers(t *testing.T) {
	s := newServer(t, func(_ *api.Options, q *stubQuery) {
		q.userByUsername = func(_ context.Context, name string) (*blog.User, error) {
			return &blog.User{ID: "u_a", Username: name}, nil
		}
	})
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for i := range 60 {
				name := strings.Repeat(string(rune('a'+worker)), 1+i*i*i)
				body := fmt.Sprintf(`{"query":"query($n:String!){userByUsername(username:$n){username}}","variables":{"n":%q}}`, name)
				request := httptest.NewRequest("POST", "/graphql", strings.NewReader(body))
				request.Header.Set("Content-Type", "application/json")
				request.Header.Set("Accept-Encoding", []string{"identity", "gzip", "zstd"}[i%3])
				recorder := httptest.NewRecorder()
				s.handler.ServeHTTP(recorder, request)
				got := decompress(t, recorder.Header().Get("Content-Encoding"), recorder.Body.Bytes())
				if want := fmt.Sprintf(`{"data":{"userByUsername":{"username":%q}}}`, name); got != want {
					t.Errorf("worker %d, %d bytes: got %.100s", worker, len(name), got)
				}
			}
		})
	}
	all.Wait()
}

// TestSharedHeadersStay checks that a response cannot change the headers of the next.
func TestSharedHeadersStay(t *testing.T) {
	s := newServer(t, inDevelopment)
	first := s.query("{__typename}").Header()
	for name := range first {
		s.query("{__typename}").Header().Add(name, "added")
		s.query("{__typename}").Header().Set(name, "replaced")
	}
	s.do("GET", "/playground/", "") // sets headers of its own
	if last := s.query("{__typename}").Header(); fmt.Sprint(first) != fmt.Sprint(last) {
		t.Errorf("got %v\nwant %v", last, first)
	}
}
