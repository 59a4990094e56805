package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"cosmosblog/api"
)

const page = "https://app.example.com"

// vary is the header Vary of all answers of /graphql.
const vary = "Origin, Accept, Accept-Encoding, Authorization, Cosmosblog-Session"

func allowPage(o *api.Options, _ *stubQuery) { o.Origins = []string{page, "http://localhost:5173"} }

func preflight(s *server, origin string, headers ...string) reply {
	return s.do("OPTIONS", "/graphql", "", append([]string{"Origin", origin, "Access-Control-Request-Method", "POST",
		"Access-Control-Request-Headers", "authorization,content-type"}, headers...)...)
}

func TestPreflight(t *testing.T) {
	s := newServer(t, allowPage)
	r := preflight(s, page)
	for name, want := range map[string]string{
		"Access-Control-Allow-Origin":      page,
		"Access-Control-Allow-Methods":     "GET, POST",
		"Access-Control-Max-Age":           "7200",
		"Access-Control-Allow-Credentials": "",
		"Vary":                             vary,
	} {
		if got := r.Header().Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	allowed := r.Header().Get("Access-Control-Allow-Headers")
	for _, name := range []string{"Authorization", "Accept", "Content-Type", "If-None-Match", "Cosmosblog-Session",
		"X-Cosmos-Diagnostics", "GraphQL-Require-Preflight", "Apollo-Require-Preflight", "X-Apollo-Operation-Name"} {
		if !strings.Contains(", "+allowed+",", ", "+name+",") {
			t.Errorf("%s is not allowed: %s", name, allowed)
		}
	}
	if r.Code != 204 || r.Body.Len() > 0 {
		t.Errorf("status %d, %s", r.Code, r.Body)
	}
}

// TestForeignPreflight checks that pages of other origins get no CORS headers.
func TestForeignPreflight(t *testing.T) {
	for _, origin := range []string{"https://example.com", "http://app.example.com", page + ":8443", page + "/", "https://APP.example.com", "https://app.example.com.evil.example", "null", "*"} {
		if r := preflight(newServer(t, allowPage), origin); r.Code != 403 || r.codes() != "FORBIDDEN" || grantsCORS(r.Header()) {
			t.Errorf("%s: status %d, %v", origin, r.Code, r.Header())
		}
	}
	if r := preflight(newServer(t, allowPage), page, "Origin", page); r.Code != 403 || grantsCORS(r.Header()) {
		t.Errorf("two origins: status %d, %v", r.Code, r.Header())
	}
	if r := preflight(newServer(t, nil), page); r.Code != 403 || grantsCORS(r.Header()) {
		t.Errorf("without allowed origins: status %d, %v", r.Code, r.Header())
	}
	r := newServer(t, allowPage).do("OPTIONS", "/graphql", "", "Origin", page)
	if r.Code != 405 || r.Header().Get("Allow") != "GET, POST" {
		t.Errorf("OPTIONS without a preflight: status %d, %v", r.Code, r.Header())
	}
}

// grantsCORS reports whether a response has any CORS header.
func grantsCORS(header http.Header) bool {
	for name := range header {
		if strings.HasPrefix(name, "Access-Control-") {
			return true
		}
	}
	return false
}

// TestCORSOnRejections checks that pages of allowed origins can read rejections too.
func TestCORSOnRejections(t *testing.T) {
	const exposed = "ETag, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, Cosmosblog-Session"
	s := newServer(t, allowPage)
	for _, r := range []reply{
		s.query("{viewer{id}}", "Origin", page),
		s.query("{viewer{id}}", "Origin", page, "Authorization", "Bearer bad"),
		s.query("{", "Origin", page),
		s.do("POST", "/graphql", "", "Origin", page),
		s.do("GET", "/graphql?query={__typename}", "", "Origin", page, "Sec-Fetch-Site", "cross-site"),
	} {
		h := r.Header()
		if h.Get("Access-Control-Allow-Origin") != page || h.Get("Access-Control-Expose-Headers") != exposed || !slices.Equal(h.Values("Vary"), []string{vary}) {
			t.Errorf("status %d: %v", r.Code, h)
		}
		if h.Get("Access-Control-Allow-Credentials") != "" || r.Code == 403 {
			t.Errorf("status %d: %v", r.Code, h)
		}
	}
	for _, headers := range [][]string{nil, {"Origin", "https://example.com"}} {
		if r := s.query("{viewer{id}}", headers...); r.Code != 200 || grantsCORS(r.Header()) || !slices.Equal(r.Header().Values("Vary"), []string{vary}) {
			t.Errorf("%v: status %d, %v", headers, r.Code, r.Header())
		}
	}
}

// TestAllowedPagesInDevelopment checks that development accepts pages of allowed origins, but
// only under a local host name.
func TestAllowedPagesInDevelopment(t *testing.T) {
	s := newServer(t, func(o *api.Options, q *stubQuery) { allowPage(o, q); o.Development = true })
	headers := []string{"Content-Type", "application/json", "Origin", page}
	if r := s.doAs("127.0.0.1:8080", headers...); r.Code != 200 || r.Header().Get("Access-Control-Allow-Origin") != page {
		t.Errorf("status %d, %s", r.Code, r.Body)
	}
	if r := s.doAs("evil.example", headers...); r.Code != 403 {
		t.Errorf("foreign Host: status %d, %s", r.Code, r.Body)
	}
	if r := s.doAs("127.0.0.1:8080", "Content-Type", "application/json", "Origin", "https://evil.example"); r.Code != 403 {
		t.Errorf("foreign Origin: status %d, %s", r.Code, r.Body)
	}
}
