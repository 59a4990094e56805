package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"cosmosblog/internal/httpapi"
)

const page = "https://app.example.com"

func withPage(o *httpapi.Options, _ *stubQuery) { o.Origins = []string{page, "http://localhost:5173"} }

func preflight(s *server, origin string, headers ...string) reply {
	return s.do("OPTIONS", "/graphql", "", append([]string{"Origin", origin, "Access-Control-Request-Method", "POST",
		"Access-Control-Request-Headers", "authorization,content-type"}, headers...)...)
}

func TestPreflight(t *testing.T) {
	s := newServer(t, withPage)
	r := preflight(s, page)
	for name, want := range map[string]string{
		"Access-Control-Allow-Origin":      page,
		"Access-Control-Allow-Methods":     "GET, POST",
		"Access-Control-Max-Age":           "7200",
		"Access-Control-Allow-Credentials": "",
		"Vary":                             "Origin",
	} {
		if got := r.Header().Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	allowed := r.Header().Get("Access-Control-Allow-Headers")
	for _, name := range []string{"Authorization", "Accept", "Content-Type", "X-Cosmos-Diagnostics", "GraphQL-Require-Preflight", "Apollo-Require-Preflight", "X-Apollo-Operation-Name"} {
		if !strings.Contains(", "+allowed+",", ", "+name+",") {
			t.Errorf("%s must not be sent: %s", name, allowed)
		}
	}
	if r.Code != 204 || r.Body.Len() > 0 {
		t.Errorf("status %d, %s", r.Code, r.Body)
	}
}

// Nobody else is told more than that.
func TestPreflightOfOthers(t *testing.T) {
	for _, origin := range []string{"https://example.com", "http://app.example.com", page + ":8443", page + "/", "https://APP.example.com", "https://app.example.com.evil.example", "null", "*"} {
		if r := preflight(newServer(t, withPage), origin); r.Code != 403 || r.codes() != "FORBIDDEN" || grants(r.Header()) {
			t.Errorf("%s: status %d, %v", origin, r.Code, r.Header())
		}
	}
	if r := preflight(newServer(t, withPage), page, "Origin", page); r.Code != 403 || grants(r.Header()) {
		t.Errorf("two origins: status %d, %v", r.Code, r.Header())
	}
	if r := preflight(newServer(t, nil), page); r.Code != 403 || grants(r.Header()) {
		t.Errorf("without a list: status %d, %v", r.Code, r.Header())
	}
	r := newServer(t, withPage).do("OPTIONS", "/graphql", "", "Origin", page)
	if r.Code != 405 || r.Header().Get("Allow") != "GET, POST" {
		t.Errorf("OPTIONS that is no preflight: status %d, %v", r.Code, r.Header())
	}
}

// grants tells whether an answer lets a page do anything.
func grants(header http.Header) bool {
	for name := range header {
		if strings.HasPrefix(name, "Access-Control-") {
			return true
		}
	}
	return false
}

// A page reads refusals too, whatever refuses.
func TestAnswersToPages(t *testing.T) {
	s := newServer(t, withPage)
	for _, r := range []reply{
		s.query("{viewer{id}}", "Origin", page),
		s.query("{viewer{id}}", "Origin", page, "Authorization", "Bearer bad"),
		s.query("{", "Origin", page),
		s.do("POST", "/graphql", "", "Origin", page),
		s.do("GET", "/graphql?query={__typename}", "", "Origin", page, "Sec-Fetch-Site", "cross-site"),
	} {
		h := r.Header()
		if h.Get("Access-Control-Allow-Origin") != page || !strings.Contains(h.Get("Access-Control-Expose-Headers"), "Retry-After") || h.Get("Vary") != "Origin" {
			t.Errorf("status %d: %v", r.Code, h)
		}
		if h.Get("Access-Control-Allow-Credentials") != "" || r.Code == 403 {
			t.Errorf("status %d: %v", r.Code, h)
		}
	}
	for _, headers := range [][]string{nil, {"Origin", "https://example.com"}} {
		if r := s.query("{viewer{id}}", headers...); r.Code != 200 || grants(r.Header()) || r.Header().Get("Vary") != "Origin" {
			t.Errorf("%v: status %d, %v", headers, r.Code, r.Header())
		}
	}
}

// In development an allowed page of elsewhere is let in, under a name of this machine.
func TestAllowedPagesInDevelopment(t *testing.T) {
	s := newServer(t, func(o *httpapi.Options, q *stubQuery) { withPage(o, q); o.Development = true })
	headers := []string{"Content-Type", "application/json", "Origin", page}
	if r := s.doAs("127.0.0.1:8080", headers...); r.Code != 200 || r.Header().Get("Access-Control-Allow-Origin") != page {
		t.Errorf("status %d, %s", r.Code, r.Body)
	}
	if r := s.doAs("evil.example", headers...); r.Code != 403 {
		t.Errorf("by a foreign name: status %d, %s", r.Code, r.Body)
	}
	if r := s.doAs("127.0.0.1:8080", "Content-Type", "application/json", "Origin", "https://evil.example"); r.Code != 403 {
		t.Errorf("another page: status %d, %s", r.Code, r.Body)
	}
}
