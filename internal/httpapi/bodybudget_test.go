package httpapi_test

import (
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"cosmosblog/internal/httpapi"
	"cosmosblog/internal/limits"
)

// Bodies that are sent on many connections take no more memory than there is for all of them;
// when they are gone, others come in.
func TestBodiesAtOnce(t *testing.T) {
	s := newServer(t, func(o *httpapi.Options, _ *stubQuery) {
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
	_, err := io.WriteString(sent, strings.Repeat(" ", 100<<10-10)) // all of it is read when this returns, but for what is read at last
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.WriteString(sent, " ")
	if err != nil {
		t.Fatal(err)
	}
	if r := s.post(query); r.Code != 429 || r.codes() != "THROTTLED" || r.Header().Get("Retry-After") == "" {
		t.Errorf("while the room is taken: status %d: %s", r.Code, r.Body)
	}
	sent.Close()
	if code := <-first; code != 400 {
		t.Errorf("blanks alone: status %d", code)
	}
	for range 3 {
		if r := s.post(query); r.Code != 200 {
			t.Errorf("afterwards: status %d: %s", r.Code, r.Body)
		}
	}
}
