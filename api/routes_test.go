package api_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"cosmosblog/api"
)

// TestOnlyThisMachineInDevelopment checks the Host and Origin headers. A page of another site can
// make a browser send requests to loopback, under any name that its DNS resolves to loopback.
func TestOnlyThisMachineInDevelopment(t *testing.T) {
	s := newServer(t, inDevelopment)
	production := newServer(t, nil)
	for _, c := range []struct {
		host, origin string
		status       int
	}{
		{"127.0.0.1:8080", "", 200},
		{"localhost:8080", "http://localhost:8080", 200},
		{"LOCALHOST", "http://127.0.0.1:3000", 200},
		{"[::1]:8080", "http://[::1]:8080", 200},
		{"127.0.0.1:8080", "https://evil.example", 403},
		{"127.0.0.1:8080", "null", 403},
		{"127.0.0.1:8080", "http://localhost.evil.example", 403},
		{"evil.example:8080", "", 403},
		{"evil.example:8080", "http://evil.example:8080", 403},
		{"0.0.0.0:8080", "", 403},
		{"", "", 403},
	} {
		headers := []string{"Content-Type", "application/json"}
		if c.origin != "" {
			headers = append(headers, "Origin", c.origin)
		}
		if r := s.doAs(c.host, headers...); r.Code != c.status || c.status == 403 && r.codes() != "FORBIDDEN" {
			t.Errorf("Host %q, Origin %q: status %d, %s", c.host, c.origin, r.Code, r.Body)
		}
		if r := production.doAs(c.host, headers...); r.Code != 200 {
			t.Errorf("in production: Host %q, Origin %q: status %d", c.host, c.origin, r.Code)
		}
	}
}

// TestPages checks where the blog and GraphiQL are. Package web has the tests of their files.
func TestPages(t *testing.T) {
	s := newServer(t, inDevelopment)
	for _, c := range []struct{ target, accept, want string }{
		{"/models", "text/html", "<title>Four models, side by side – cosmosblog</title>"},
		{"/write", "text/html", "<title>New post – cosmosblog</title>"},
		{"/playground", "*/*", "<title>GraphiQL"},
	} {
		r := s.do("GET", c.target, "", "Accept", c.accept)
		if r.Code != 200 || !strings.Contains(r.Body.String(), c.want) || !strings.HasPrefix(r.Header().Get("Content-Type"), "text/html") {
			t.Errorf("%s: status %d, %s", c.target, r.Code, r.Body)
		}
	}
	if r := s.do("GET", "/playground/", ""); r.Code != 302 || r.Header().Get("Location") != "/playground" {
		t.Errorf("/playground/: status %d, Location %q", r.Code, r.Header().Get("Location"))
	}
	if r := s.do("GET", "/write", "", "Accept", "text/html", "Accept-Encoding", "gzip;q=0, *"); r.Header().Get("Content-Encoding") != "" {
		t.Errorf("a client that refuses gzip got %q", r.Header().Get("Content-Encoding"))
	}
	if r := s.do("GET", "/write", "", "Accept", "text/html", "Accept-Encoding", "br, gzip"); r.Header().Get("Content-Encoding") != "gzip" {
		t.Errorf("a client that accepts gzip got %q", r.Header().Get("Content-Encoding"))
	}
}

// TestUnknownRoutesAndMethods checks that responses without a file or redirect are JSON with a
// code.
func TestUnknownRoutesAndMethods(t *testing.T) {
	for _, c := range []struct {
		method, target string
		development    bool
		status         int
		code, allow    string
	}{
		{"GET", "/", false, 404, "NOT_FOUND", ""},
		{"GET", "/graph", false, 404, "NOT_FOUND", ""},
		{"GET", "/playground", false, 404, "NOT_FOUND", ""},
		{"GET", "/graphql/nothing", false, 404, "NOT_FOUND", ""},
		{"GET", "/graphql//", false, 404, "NOT_FOUND", ""},
		{"DELETE", "/graphql/", false, 405, "BAD_USER_INPUT", "GET, POST"},
		{"GET", "//graphql", false, 404, "NOT_FOUND", ""},
		{"GET", "/x/../graphql", false, 404, "NOT_FOUND", ""},
		{"GET", "/metrics", false, 404, "NOT_FOUND", ""},
		{"POST", "/metrics", true, 405, "BAD_USER_INPUT", "GET, HEAD"},
		{"GET", "/playground/nothing", true, 404, "NOT_FOUND", ""},
		{"GET", "/assets/nothing.js", true, 404, "NOT_FOUND", ""},
		{"GET", "/nothing", true, 404, "NOT_FOUND", ""},
		{"POST", "/nothing", true, 404, "NOT_FOUND", ""},
		{"POST", "/healthz", false, 405, "BAD_USER_INPUT", "GET, HEAD"},
		{"POST", "/readyz", false, 405, "BAD_USER_INPUT", "GET, HEAD"},
		{"POST", "/", true, 405, "BAD_USER_INPUT", "GET, HEAD"},
		{"POST", "/playground", true, 405, "BAD_USER_INPUT", "GET, HEAD"},
		{"DELETE", "/graphql", true, 405, "BAD_USER_INPUT", "GET, POST"},
	} {
		s := newServer(t, func(o *api.Options, _ *stubQuery) {
			o.Development, o.Metrics = c.development, http.NotFoundHandler()
		})
		r := s.do(c.method, c.target, "")
		if r.Code != c.status || r.codes() != c.code || r.Header().Get("Allow") != c.allow {
			t.Errorf("%s %s: status %d, Allow %q, %s", c.method, c.target, r.Code, r.Header().Get("Allow"), r.Body)
		}
	}
}

// TestSlashAfterGraphQL checks that /graphql/ answers as /graphql does, also to pages, and is
// logged and counted as that is.
func TestSlashAfterGraphQL(t *testing.T) {
	s, lines := newLoggedServer(t)
	for _, send := range []func(path string) reply{
		func(path string) reply {
			return s.do("POST", path, `{"query":"{viewer{id}}"}`, "Content-Type", "application/json", "Origin", page, "Authorization", "Bearer good")
		},
		func(path string) reply { return s.do("GET", path+"?query={viewer{id}}", "", "Origin", page) },
		func(path string) reply {
			return s.do("OPTIONS", path, "", "Origin", page, "Access-Control-Request-Method", "POST")
		},
		func(path string) reply { return s.do("POST", path, "{", "Authorization", "Bearer bad") },
	} {
		want, logged := send("/graphql"), len(lines())
		got := send("/graphql/")
		if got.Code != want.Code || got.Body.String() != want.Body.String() || !maps.EqualFunc(got.Header(), want.Header(), slices.Equal) || len(lines()) != logged {
			t.Errorf("got %d %v %s, want %d %v %s", got.Code, got.Header(), got.Body, want.Code, want.Header(), want.Body)
		}
	}
}

// TestQueriesOfPagesOfOtherSites covers images, scripts and links, whose GETs have no Origin
// header.
func TestQueriesOfPagesOfOtherSites(t *testing.T) {
	const target = "/graphql?query={__typename}"
	for _, c := range []struct {
		headers []string
		status  int
	}{
		{nil, 200},
		{[]string{"Sec-Fetch-Site", "none"}, 200},
		{[]string{"Sec-Fetch-Site", "same-origin", "Origin", "http://127.0.0.1:8080"}, 200},
		{[]string{"Sec-Fetch-Site", "cross-site"}, 403},
		{[]string{"Sec-Fetch-Site", "cross-site", "GraphQL-Require-Preflight", "1"}, 200},
		{[]string{"Sec-Fetch-Site", "cross-site", "Apollo-Require-Preflight", "true"}, 200},
		{[]string{"X-Apollo-Operation-Name", "A"}, 200},
		{[]string{"Origin", "http://127.0.0.1:3000"}, 403},
		{[]string{"Origin", "null"}, 403},
	} {
		for _, development := range []bool{false, true} {
			s := newServer(t, func(o *api.Options, _ *stubQuery) { o.Development = development })
			if r := s.do("GET", target, "", c.headers...); r.Code != c.status || c.status == 403 && r.codes() != "FORBIDDEN" {
				t.Errorf("development %v, %v: status %d, %s", development, c.headers, r.Code, r.Body)
			}
		}
	}
}

// TestPanicOutsideOfGraphQL checks that panics outside of the GraphQL server get the same
// response as those inside.
func TestPanicOutsideOfGraphQL(t *testing.T) {
	s := newServer(t, nil)
	r := s.query("{__typename}", "Authorization", "Bearer panic")
	if r.Code != 500 || r.codes() != "INTERNAL" || !strings.Contains(s.log.String(), "S3CRET") || strings.Contains(r.Body.String(), "S3CRET") {
		t.Errorf("status %d, %s\n%s", r.Code, r.Body, s.log)
	}
}

func TestRejectionsNegotiateTheirType(t *testing.T) {
	s := newServer(t, nil)
	for _, r := range []reply{
		s.query("{__typename}", "Authorization", "Bearer bad", "Accept", newerType),
		s.do("GET", "/nothing", "", "Accept", newerType),
		s.do("PUT", "/graphql", "", "Accept", newerType),
	} {
		if !strings.HasPrefix(r.Header().Get("Content-Type"), newerType) {
			t.Errorf("status %d in %s", r.Code, r.Header().Get("Content-Type"))
		}
	}
}
