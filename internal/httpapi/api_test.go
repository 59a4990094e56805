package httpapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"cosmosblog/internal/blog"
	"cosmosblog/internal/httpapi"
)

func TestAuthorization(t *testing.T) {
	s := newServer(t, nil)
	for _, c := range []struct {
		authorization string
		status        int
		data, codes   string
	}{
		{"", 200, `{"viewer":null}`, ""},
		{"Bearer good", 200, `{"viewer":{"username":"ann"}}`, ""},
		{"bearer   good", 200, `{"viewer":{"username":"ann"}}`, ""},
		{"Bearer bad", 401, "", "UNAUTHENTICATED"},
		{"Bearer", 401, "", "UNAUTHENTICATED"},
		{"Basic Z29vZA==", 401, "", "UNAUTHENTICATED"},
		{"good", 401, "", "UNAUTHENTICATED"},
		{"Bearer unreachable", 500, "", "INTERNAL"},
	} {
		r := s.query("{viewer{username}}", "Authorization", c.authorization)
		if r.Code != c.status || string(r.Data) != c.data || r.codes() != c.codes {
			t.Errorf("Authorization %q: status %d, %s", c.authorization, r.Code, r.Body)
		}
		if challenged := r.Header().Get("WWW-Authenticate") != ""; challenged != (c.status == 401) {
			t.Errorf("Authorization %q: WWW-Authenticate %q", c.authorization, r.Header().Get("WWW-Authenticate"))
		}
	}
}

// TestErrors sees every kind of error that a resolver can end in through the one door.
func TestErrors(t *testing.T) {
	secret := errors.New("S3CRET")
	for _, c := range []struct {
		name       string
		viewer     func(ctx context.Context) (*blog.User, error)
		code       string
		message    string
		extensions int
	}{
		{"of the domain", fails(&blog.Error{Code: blog.Conflict, Message: "Too late.", Err: secret}), "CONFLICT", "Too late.", 1},
		{"throttled", fails(&blog.Error{Code: blog.Throttled, Message: "Wait.", RetryAfter: 1500 * time.Millisecond, Err: secret}), "THROTTLED", "Wait.", 2},
		{"internal", fails(&blog.Error{Code: blog.Internal, Message: "S3CRET", Err: secret}), "INTERNAL", "", 2},
		{"unknown", fails(secret), "INTERNAL", "", 2},
		{"a deadline", fails(context.DeadlineExceeded), "INTERNAL", "", 2},
		{"a panic", func(context.Context) (*blog.User, error) { panic("S3CRET") }, "INTERNAL", "", 2},
		{"a missing value", func(context.Context) (*blog.User, error) { return &blog.User{}, nil }, "INTERNAL", "", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newServer(t, func(_ *httpapi.Options, q *stubQuery) { q.viewer = c.viewer })
			r := s.query("{viewer{id posts{nodes{id}}}}")
			if r.codes() != c.code || len(r.Errors[0].Extensions) != c.extensions || r.Errors[0].Path[0] != "viewer" || r.Errors[0].Locations == nil {
				t.Fatalf("got %s", r.Body)
			}
			if c.message != "" && r.Errors[0].Message != c.message || strings.Contains(r.Body.String(), "S3CRET") {
				t.Errorf("got %s", r.Body)
			}
			if c.code == "THROTTLED" && r.Errors[0].Extensions["retryAfterMs"] != 1500.0 {
				t.Errorf("retryAfterMs is %v", r.Errors[0].Extensions["retryAfterMs"])
			}
			checkLog(t, s, r, c.code == "INTERNAL")
		})
	}
}

func fails(err error) func(context.Context) (*blog.User, error) {
	return func(context.Context) (*blog.User, error) { return nil, err }
}

// checkLog looks for one line that bears the error's id, and the cause.
func checkLog(t *testing.T, s *server, r reply, logged bool) {
	t.Helper()
	if !logged {
		if s.log.Len() > 0 {
			t.Errorf("logged: %s", s.log)
		}
		return
	}
	var line struct{ ErrorID, Cause string }
	if err := json.Unmarshal(s.log.Bytes(), &line); err != nil {
		t.Fatalf("the log: %v: %s", err, s.log)
	}
	if id := r.Errors[0].Extensions["errorId"]; line.ErrorID == "" || line.ErrorID != id || line.Cause == "" {
		t.Errorf("errorId %v, the log: %s", id, s.log)
	}
}

func TestDeadline(t *testing.T) {
	s := newServer(t, func(o *httpapi.Options, q *stubQuery) {
		o.Timeout = time.Millisecond
		q.viewer = func(ctx context.Context) (*blog.User, error) {
			<-ctx.Done() // would wait for ever without a deadline
			return nil, ctx.Err()
		}
	})
	if r := s.query("{viewer{id}}"); r.codes() != "INTERNAL" {
		t.Errorf("got %s", r.Body)
	}
}

func TestAnswerThatIsTooLarge(t *testing.T) {
	s := newServer(t, func(_ *httpapi.Options, q *stubQuery) {
		q.viewer = func(context.Context) (*blog.User, error) {
			return &blog.User{Username: strings.Repeat("x", 9<<20)}, nil
		}
	})
	if r := s.query("{viewer{username}}"); r.codes() != "COST_LIMIT_EXCEEDED" || r.Data != nil {
		t.Errorf("got %.300s", r.Body)
	}
}

func TestHealth(t *testing.T) {
	ready := errors.New("S3CRET")
	s := newServer(t, func(o *httpapi.Options, _ *stubQuery) {
		o.Ready = []httpapi.Check{
			{Name: "engine", Ready: func(context.Context) error { return nil }},
			{Name: "projector", Ready: func(context.Context) error { return ready }},
		}
	})
	if r := s.do("GET", "/healthz", ""); r.Code != 200 {
		t.Errorf("healthz: %d", r.Code)
	}
	if r := s.do("GET", "/readyz", ""); r.Code != 503 || r.Body.String() != `{"status":"not ready","waiting":["projector"]}` {
		t.Errorf("readyz: %d %s", r.Code, r.Body)
	}
	ready = nil
	if r := s.do("GET", "/readyz", ""); r.Code != 200 {
		t.Errorf("readyz: %d %s", r.Code, r.Body)
	}
}

// A page of another site can make a browser send requests to loopback, under any name that its DNS gives it.
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

func TestPlayground(t *testing.T) {
	s := newServer(t, inDevelopment)
	for target, contentType := range map[string]string{
		"/playground":                "text/html",
		"/playground/start.js":       "text/javascript",
		"/playground/playground.js":  "text/javascript",
		"/playground/playground.css": "text/css",
		"/playground/favicon.png":    "image/png",
	} {
		r := s.do("GET", target, "")
		if r.Code != 200 || !strings.HasPrefix(r.Header().Get("Content-Type"), contentType) || r.Body.Len() == 0 {
			t.Errorf("%s: status %d, %s, %d bytes", target, r.Code, r.Header().Get("Content-Type"), r.Body.Len())
		}
		if !strings.Contains(r.Header().Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s has no policy", target)
		}
	}
	if page := s.do("GET", "/playground", "").Body.String(); strings.Contains(page, "http:") || strings.Contains(page, "https:") {
		t.Errorf("the page loads something from elsewhere: %s", page)
	}
	for _, target := range []string{"/", "/playground/"} {
		if r := s.do("GET", target, ""); r.Code != 302 || r.Header().Get("Location") != "/playground" {
			t.Errorf("%s: status %d, Location %q", target, r.Code, r.Header().Get("Location"))
		}
	}
}
