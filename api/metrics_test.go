package api_test

import (
	"io"
	"net/http"
	"testing"

	"cosmosblog/api"
)

// TestMetricsInDevelopment checks that local users can read the metrics, and pages of other sites
// cannot.
func TestMetricsInDevelopment(t *testing.T) {
	s := newServer(t, func(o *api.Options, _ *stubQuery) {
		o.Development = true
		o.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "up 1\n") })
	})
	if r := s.do("GET", "/metrics", ""); r.Code != 200 || r.Body.String() != "up 1\n" {
		t.Errorf("got %d %s", r.Code, r.Body)
	}
	if r := s.do("GET", "/metrics", "", "Origin", "http://example.com"); r.Code != 403 {
		t.Errorf("to a page of another site: %d %s", r.Code, r.Body)
	}
}
