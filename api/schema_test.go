package api_test

import (
	"os"
	"strings"
	"testing"

	"cosmosblog/api"
)

// TestSchemaFile checks that the schema is served as it is in the repository, in development or if
// the operator publishes it.
func TestSchemaFile(t *testing.T) {
	want, err := os.ReadFile("../schema.graphqls")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		development, publish bool
		status               int
	}{{true, false, 200}, {true, true, 200}, {false, true, 200}, {false, false, 404}} {
		s := newServer(t, func(o *api.Options, _ *stubQuery) { o.Development, o.PublishSchema = c.development, c.publish })
		r := s.do("GET", "/schema.graphql", "")
		if r.Code != c.status {
			t.Errorf("%+v: status %d: %.200s", c, r.Code, r.Body)
		}
		if c.status != 200 {
			continue
		}
		header := r.Header()
		if r.Body.String() != string(want) || header.Get("Content-Type") != "text/plain; charset=utf-8" || header.Get("Cache-Control") != "no-cache" {
			t.Errorf("%+v: %v: %.200s", c, header, r.Body)
		}
		if r := s.do("GET", "/schema.graphql", "", "If-None-Match", header.Get("ETag")); r.Code != 304 || r.Body.Len() > 0 {
			t.Errorf("%+v: ETag %q, then status %d", c, header.Get("ETag"), r.Code)
		}
		if r := s.do("POST", "/schema.graphql", ""); r.Code != 405 || r.codes() != "BAD_USER_INPUT" {
			t.Errorf("%+v: POST has status %d: %s", c, r.Code, r.Body)
		}
	}
}

// TestSchemaOfDevelopmentIsLocal checks that pages of other sites cannot read the schema in
// development.
func TestSchemaOfDevelopmentIsLocal(t *testing.T) {
	s := newServer(t, inDevelopment)
	if r := s.do("GET", "/schema.graphql", "", "Origin", "https://evil.example"); r.Code != 403 || r.codes() != "FORBIDDEN" {
		t.Errorf("status %d: %.200s", r.Code, r.Body)
	}
}

// TestManyRanges checks that a request for many ranges of a file gets the file, which is smaller.
func TestManyRanges(t *testing.T) {
	s := newServer(t, inDevelopment)
	for _, path := range []string{"/schema.graphql", "/icon.svg", "/playground"} {
		whole := s.do("GET", path, "")
		r := s.do("GET", path, "", "Range", "bytes="+strings.Repeat("1-1,", 7000)+"1-1")
		if r.Code != 200 || r.Body.Len() != whole.Body.Len() {
			t.Errorf("%s: status %d with %d bytes, want %d", path, r.Code, r.Body.Len(), whole.Body.Len())
		}
		if r := s.do("GET", path, "", "Range", "bytes=1-3"); r.Code != 206 || r.Body.Len() != 3 {
			t.Errorf("%s: one range has status %d with %d bytes", path, r.Code, r.Body.Len())
		}
	}
}
