package api_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"cosmosblog/api"
	"cosmosblog/blog"
	"cosmosblog/guard/limits"
	"cosmosblog/resolvers"
)

// TestStatuses checks the statuses of the GraphQL-over-HTTP draft for both media types.
func TestStatuses(t *testing.T) {
	const (
		newer  = newerType
		older  = "application/json"
		syntax = `{"query":"{"}`
	)
	for _, c := range []struct {
		name, method, target, accept, body string
		status                             int
		data                               bool
	}{
		{"executed", "POST", "/graphql", newer, `{"query":"{__typename}"}`, 200, true},
		{"executed", "POST", "/graphql", older, `{"query":"{__typename}"}`, 200, true},
		{"data and errors", "POST", "/graphql", newer, `{"query":"{__typename viewer{id}}"}`, 200, true},
		{"data and errors", "POST", "/graphql", older, `{"query":"{__typename viewer{id}}"}`, 200, true},
		{"a syntax error", "POST", "/graphql", newer, syntax, 400, false},
		{"a syntax error", "POST", "/graphql", older, syntax, 200, false},
		{"an invalid document", "POST", "/graphql", newer, `{"query":"{nothing}"}`, 400, false},
		{"an invalid document", "POST", "/graphql", older, `{"query":"{nothing}"}`, 200, false},
		{"variables of the wrong type", "POST", "/graphql", newer, `{"query":"query($n:Int){feed(first:$n){nodes{id}}}","variables":{"n":"x"}}`, 400, false},
		{"unknown operation", "POST", "/graphql", newer, `{"query":"query A{__typename}","operationName":"B"}`, 400, false},
		{"a document above a limit", "POST", "/graphql", newer, `{"query":"` + nested(13) + `"}`, 400, false},
		{"no query", "POST", "/graphql", newer, `{}`, 400, false},
		{"no query", "POST", "/graphql", older, `{}`, 400, false},
		{"malformed JSON", "POST", "/graphql", older, `{`, 400, false},
		{"a mutation by GET", "GET", "/graphql?query=" + url.QueryEscape(`mutation{deletePost(input:{id:"x"}){post{id}}}`), older, "", 405, false},
		{"another method", "PATCH", "/graphql", older, `{"query":"{__typename}"}`, 405, false},
		{"HEAD", "HEAD", "/graphql?query={__typename}", older, "", 405, false},
		{"another path", "POST", "/", older, `{"query":"{__typename}"}`, 404, false},
	} {
		s := newServer(t, func(_ *api.Options, q *stubQuery) { q.viewer = failWith(blog.Errorf(blog.Throttled, "Wait.")) })
		r := s.do(c.method, c.target, c.body, "Content-Type", "application/json", "Accept", c.accept)
		if r.Code != c.status || (r.Data != nil) != c.data || !strings.HasPrefix(r.Header().Get("Content-Type"), c.accept) {
			t.Errorf("%s in %s: status %d, %s", c.name, c.accept, r.Code, r.Body)
		}
		if r.Code != 200 && len(r.Errors) == 0 {
			t.Errorf("%s in %s: status %d without an error: %s", c.name, c.accept, r.Code, r.Body)
		}
	}
}

func TestAccept(t *testing.T) {
	s := newServer(t, nil)
	for accept, newer := range map[string]bool{
		"":                                              false,
		"*/*":                                           false,
		"application/*":                                 false,
		"image/png":                                     false, // no other type is available
		newerType:                                       true,
		newerType + "; charset=utf-8":                   true,
		newerType + `; charset="UTF-8"`:                 true,
		newerType + "; charset=utf-16":                  false,
		"Application/GraphQL-Response+JSON":             true,
		newerType + ", application/json":                true,
		"application/json, " + newerType:                false,
		newerType + ", application/json;q=0.9":          true,
		"application/json;q=0.9, " + newerType:          true,
		"application/json, " + newerType + ";q=0.9":     false,
		"application/json;q=0.1, " + newerType + ";q=1": true,
		newerType + ";q=0":                              false,
		newerType + ";q=0, */*":                         false,
		"application/json;q=0, */*":                     true, // the more specific range wins
		"application/json;q=0, application/*;q=0.1":     true,
		"*/*;q=0.1, " + newerType + ";q=0.2":            true,
		"*/*, " + newerType + ";q=0.2":                  false,
		"text/html, application/xhtml+xml, application/xml;q=0.9, */*;q=0.8":     false, // a browser's navigation
		"application/graphql-response+json,application/json;q=0.9":               true,  // Apollo Client
		"application/graphql-response+json, application/json, text/event-stream": true,  // urql
		newerType + ";q=NaN": false,
		", ;,/":              false,
		"application/json;q=0, application/graphql-response+json;q=0": false,
	} {
		r := s.query("{", "Accept", accept)
		if got := strings.HasPrefix(r.Header().Get("Content-Type"), newerType); got != newer || r.Code == 400 != newer {
			t.Errorf("Accept %q: status %d, %s", accept, r.Code, r.Header().Get("Content-Type"))
		}
	}
	r := s.do("POST", "/graphql", `{"query":"{"}`, "Content-Type", "application/json", "Accept", "application/json;q=0.5", "Accept", newerType)
	if r.Code != 400 {
		t.Errorf("two Accept headers: status %d", r.Code)
	}
}

// TestInFlight checks that operations above the limit are rejected before they run, with
// Retry-After.
func TestInFlight(t *testing.T) {
	begun, end := make(chan struct{}), make(chan struct{})
	s := newServer(t, func(o *api.Options, q *stubQuery) {
		o.Limits = limits.Default()
		o.Limits.InFlight = 1
		q.viewer = func(context.Context) (*blog.User, error) {
			begun <- struct{}{}
			<-end
			return nil, nil
		}
	})
	first := make(chan reply)
	go func() { first <- s.query("{viewer{id}}") }()
	<-begun
	r := s.query("{viewer{id}}", "Accept", "application/json")
	if r.Code != 429 || r.Header().Get("Retry-After") != "1" || r.codes() != "OVERLOADED" || r.Errors[0].Extensions["retryAfterMs"] != 1000.0 || r.Data != nil {
		t.Errorf("status %d, Retry-After %q, %s", r.Code, r.Header().Get("Retry-After"), r.Body)
	}
	if r := s.do("GET", "/healthz", ""); r.Code != 200 {
		t.Errorf("healthz: %d", r.Code)
	}
	close(end)
	if r := <-first; r.Code != 200 {
		t.Errorf("first operation: %d %s", r.Code, r.Body)
	}
	go func() { <-begun }()
	if r := s.query("{viewer{id}}"); r.Code != 200 {
		t.Errorf("operation after the first: %d %s", r.Code, r.Body)
	}
}

// TestSlowBody checks the status of a body that does not arrive in time.
func TestSlowBody(t *testing.T) {
	s := newServer(t, nil)
	request := httptest.NewRequest("POST", "/graphql", iotest.ErrReader(os.ErrDeadlineExceeded))
	request.Header.Set("Content-Type", "application/json")
	recorder := httptest.NewRecorder()
	s.handler.ServeHTTP(recorder, request)
	if recorder.Code != http.StatusRequestTimeout || !strings.Contains(recorder.Body.String(), `"code":"TIMEOUT"`) {
		t.Errorf("status %d, %s", recorder.Code, recorder.Body)
	}
}

// TestExpiredRequest checks that clients may retry a request whose context ended before execution.
func TestExpiredRequest(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := newServer(t, nil)
	request := httptest.NewRequest("POST", "/graphql", strings.NewReader(`{"query":"{viewer{id}}"}`)).WithContext(ctx)
	request.Header.Set("Content-Type", "application/json")
	recorder := httptest.NewRecorder()
	s.handler.ServeHTTP(recorder, request)
	if recorder.Code != 503 || recorder.Header().Get("Retry-After") != "1" || strings.Contains(recorder.Body.String(), "data") {
		t.Errorf("status %d, %v, %s", recorder.Code, recorder.Header(), recorder.Body)
	}
}

// hangingVerifier blocks until its context ends.
type hangingVerifier struct{}

func (hangingVerifier) Verify(ctx context.Context, _ string) (blog.Account, error) {
	<-ctx.Done()
	return blog.Account{}, ctx.Err()
}

func TestVerificationTimeout(t *testing.T) {
	s := newServer(t, func(o *api.Options, _ *stubQuery) {
		o.Verifier, o.Limits = hangingVerifier{}, limits.Default()
		o.Limits.Time = time.Millisecond
	})
	if r := s.query("{__typename}", "Authorization", "Bearer x"); r.Code != 503 || r.codes() != "TIMEOUT" {
		t.Errorf("status %d, %s", r.Code, r.Body)
	}
}

// panickingExtension panics outside of field resolution.
type panickingExtension struct{}

func (panickingExtension) ExtensionName() string                   { return "Panicking" }
func (panickingExtension) Validate(graphql.ExecutableSchema) error { return nil }
func (panickingExtension) InterceptResponse(context.Context, graphql.ResponseHandler) *graphql.Response {
	panic("S3CRET")
}

func TestPanicInExtension(t *testing.T) {
	s := newServer(t, nil)
	s.handler = api.New(api.Options{
		Resolvers: resolvers.New(nil),
		Scope:     panickingExtension{},
		Errors:    resolvers.NewErrorPresenter(slog.New(slog.DiscardHandler)),
		Verifier:  stubVerifier{},
	})
	r := s.query("{__typename}")
	if r.Code != 500 || r.codes() != "INTERNAL" || strings.Contains(r.Body.String(), "S3CRET") || r.Header().Get("Content-Type") == "" {
		t.Errorf("status %d, %s", r.Code, r.Body)
	}
}

// TestSecurityHeaders checks that every response has the security headers.
func TestSecurityHeaders(t *testing.T) {
	s := newServer(t, inDevelopment)
	for _, r := range []reply{
		s.query("{__typename}"), s.query("{"), s.do("POST", "/graphql", ""), s.do("GET", "/", ""), s.do("GET", "/nothing", ""),
		s.do("GET", "/healthz", ""), s.do("GET", "/readyz", ""), s.do("GET", "/playground", ""), s.do("GET", "/playground/icon.svg", ""), s.do("GET", "/licenses.md", ""),
		s.doAs("evil.example"),
	} {
		h := r.Header()
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Resource-Policy": "same-origin", "Server": "", "X-Powered-By": "", "Strict-Transport-Security": "",
		} {
			if h.Get(name) != want {
				t.Errorf("status %d: %s is %q, want %q", r.Code, name, h.Get(name), want)
			}
		}
		if policy := h.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") {
			t.Errorf("status %d: policy %q", r.Code, policy)
		}
		if keep := h.Get("Cache-Control"); keep != "no-store" && keep != "no-cache" {
			t.Errorf("status %d: Cache-Control %q", r.Code, keep)
		}
	}
}
