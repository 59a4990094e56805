package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"cosmosblog/api"
	"cosmosblog/blog"
	"cosmosblog/graph/model"
	"cosmosblog/guard/limits"
	"cosmosblog/internal/telemetry"
)

func TestAuthorization(t *testing.T) {
	s := newServer(t, nil)
	for _, c := range []struct {
		authorization string
		status        int
		data, codes   string
	}{
		{"", 200, `{"viewer":null}`, ""},
		{"  \t ", 200, `{"viewer":null}`, ""},
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

func TestAuthorizationIsSentOnce(t *testing.T) {
	s := newServer(t, nil)
	if r := s.query("{viewer{username}}"); string(r.Data) != `{"viewer":null}` {
		t.Errorf("without a token: %s", r.Body)
	}
	if r := s.query("{viewer{username}}", "Authorization", "Bearer good", "Authorization", ""); string(r.Data) != `{"viewer":{"username":"ann"}}` {
		t.Errorf("with a second, empty one: %s", r.Body)
	}
	for _, second := range []string{"Bearer", "Bearer good", "Bearer bad"} {
		if r := s.query("{viewer{username}}", "Authorization", "Bearer good", "Authorization", second); r.Code != 401 || r.Data != nil {
			t.Errorf("second header %q: status %d, %s", second, r.Code, r.Body)
		}
	}
}

// TestErrors checks the response and the log for every kind of error that a resolver can return.
func TestErrors(t *testing.T) {
	secret := errors.New("S3CRET")
	for _, c := range []struct {
		name       string
		viewer     func(ctx context.Context) (*blog.User, error)
		code       string
		message    string
		extensions int
	}{
		{"domain error", failWith(&blog.Error{Code: blog.Conflict, Message: "Too late.", Err: secret}), "CONFLICT", "Too late.", 1},
		{"throttled", failWith(&blog.Error{Code: blog.Throttled, Message: "Wait.", RetryAfter: 1500 * time.Millisecond, Err: secret}), "THROTTLED", "Wait.", 2},
		{"internal", failWith(&blog.Error{Code: blog.Internal, Message: "S3CRET", Err: secret}), "INTERNAL", "", 2},
		{"unknown", failWith(secret), "INTERNAL", "", 2},
		{"deadline", failWith(context.DeadlineExceeded), "TIMEOUT", "", 3},
		{"panic", func(context.Context) (*blog.User, error) { panic("S3CRET") }, "INTERNAL", "", 2},
		{"missing value", func(context.Context) (*blog.User, error) { return &blog.User{}, nil }, "INTERNAL", "", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newServer(t, func(_ *api.Options, q *stubQuery) { q.viewer = c.viewer })
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
			checkLog(t, s, r, c.code == "INTERNAL" || c.code == "TIMEOUT")
		})
	}
}

func failWith(err error) func(context.Context) (*blog.User, error) {
	return func(context.Context) (*blog.User, error) { return nil, err }
}

// checkLog checks that the log has one line with the error's id and its cause, or no line at all.
func checkLog(t *testing.T, s *server, r reply, logged bool) {
	t.Helper()
	if !logged {
		if s.log.Len() > 0 {
			t.Errorf("unexpected log: %s", s.log)
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
	s := newServer(t, func(o *api.Options, q *stubQuery) {
		o.Limits = limits.Default()
		o.Limits.Time = time.Millisecond
		q.viewer = func(ctx context.Context) (*blog.User, error) {
			<-ctx.Done() // blocks forever without a deadline
			return nil, ctx.Err()
		}
	})
	if r := s.query("{viewer{id}}"); r.codes() != "TIMEOUT" {
		t.Errorf("got %s", r.Body)
	}
}

func TestResponseTooLarge(t *testing.T) {
	s := newServer(t, func(_ *api.Options, q *stubQuery) {
		q.viewer = func(context.Context) (*blog.User, error) {
			return &blog.User{Username: strings.Repeat("x", 9<<20)}, nil
		}
	})
	r := s.query("{viewer{username} a:viewer{username} b:viewer{username}}", "Accept", newerType)
	if r.codes() != "LIMIT_EXCEEDED" || string(r.Data) != "null" || r.Code != 200 {
		t.Errorf("got %d %.300s", r.Code, r.Body)
	}
}

// TestErrorsOfAResponse checks that a response holds only the first errors of an operation.
func TestErrorsOfAResponse(t *testing.T) {
	for _, limit := range []int{limits.MostErrors, 3} {
		s := newServer(t, func(o *api.Options, q *stubQuery) {
			q.viewer = failWith(blog.Errorf(blog.Conflict, "Too late."))
			o.Limits = limits.Default()
			o.Limits.Errors = limit
		})
		if r := s.query(aliases(12)); len(r.Errors) != limit || r.Code != 200 {
			t.Errorf("%d errors, want %d: %s", len(r.Errors), limit, r.Body)
		}
	}
}

// TestMutationResponseTooLarge checks that the error states that the mutation succeeded.
func TestMutationResponseTooLarge(t *testing.T) {
	s := newServer(t, func(_ *api.Options, q *stubQuery) {
		q.deletePost = func(context.Context) (*model.DeletePostPayload, error) {
			return &model.DeletePostPayload{Post: &blog.Post{ID: "p_a", PostHead: blog.PostHead{Title: strings.Repeat("x", 9<<20)}}}, nil
		}
	})
	r := s.query(`mutation{deletePost(input:{id:"`+blog.IDSource{}.NewPostID("", "")+`"}){post{title}}}`, "Accept", newerType)
	if r.Code != 200 || string(r.Data) != "null" || r.codes() != "LIMIT_EXCEEDED" || !strings.Contains(r.Errors[0].Message, "mutation succeeded") {
		t.Errorf("got %d %.300s", r.Code, r.Body)
	}
}

func TestHealth(t *testing.T) {
	ready := errors.New("S3CRET")
	s := newServer(t, func(o *api.Options, _ *stubQuery) {
		o.Ready = []telemetry.Check{
			{Name: "engine", Ready: func(context.Context) (any, error) { return nil, nil }},
			{Name: "projector", Ready: func(context.Context) (any, error) { return []int{7}, ready }},
		}
	})
	if r := s.do("GET", "/healthz", ""); r.Code != 200 {
		t.Errorf("healthz: %d", r.Code)
	}
	if r := s.do("GET", "/readyz", ""); r.Code != 503 || r.codes() != "INTERNAL" ||
		!strings.Contains(r.Body.String(), `"waiting":["projector"]`) || !strings.Contains(r.Body.String(), `"projector":[7]`) || strings.Contains(r.Body.String(), "S3CRET") {
		t.Errorf("readyz: %d %s", r.Code, r.Body)
	}
	if log := s.log.String(); !strings.Contains(log, `"level":"WARN"`) || !strings.Contains(log, "S3CRET") || !strings.Contains(log, "projector") {
		t.Errorf("the log does not contain the cause: %s", log)
	}
	ready = nil
	if r := s.do("GET", "/readyz", ""); r.Code != 200 || r.Body.String() != `{"projector":[7],"status":"ready"}` {
		t.Errorf("readyz: %d %s", r.Code, r.Body)
	}
}
