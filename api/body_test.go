package api_test

import (
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"cosmosblog/api"
	"cosmosblog/guard/limits"
)

// TestBodyMemory checks that the bodies of all connections share one memory pool, and that finished
// requests return their share.
func TestBodyMemory(t *testing.T) {
	s := newServer(t, func(o *api.Options, _ *stubQuery) {
		o.Limits = limits.Default()
		o.Limits.AllBodiesBytes = 100 << 10
	})
	const query = `{"query":"{__typename}"}`
	slow, sent := io.Pipe()
	first := make(chan int)
	go func() {
		request := httptest.NewRequest("POST", "http://127.0.0.1/graphql", slow)
		request.Header.Set("Content-Type", "application/json")
		recorder := httptest.NewRecorder()
		s.handler.ServeHTTP(recorder, request)
		first <- recorder.Code
	}()
	_, err := io.WriteString(sent, strings.Repeat(" ", 100<<10-10))
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.WriteString(sent, " ")
	if err != nil {
		t.Fatal(err)
	}
	if r := s.post(query); r.Code != 429 || r.codes() != "OVERLOADED" || r.Header().Get("Retry-After") == "" {
		t.Errorf("while the pool is used up: status %d: %s", r.Code, r.Body)
	}
	sent.Close()
	if code := <-first; code != 400 {
		t.Errorf("a blank body: status %d, want 400", code)
	}
	for range 3 {
		if r := s.post(query); r.Code != 200 {
			t.Errorf("after the pool was released: status %d: %s", r.Code, r.Body)
		}
	}
}
