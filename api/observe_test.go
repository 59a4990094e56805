package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"cosmosblog/api"
	"cosmosblog/blog"
	"cosmosblog/graph/model"
	"cosmosblog/internal/telemetry"
)

// logLine is the log line of a request.
type logLine struct {
	Msg, Level, Operation, Type, Code, ErrorID, Client string
	Status, Bytes                                      int
}

// newLoggedServer returns a server that logs its requests, and a function that returns the lines
// since its last call.
func newLoggedServer(t *testing.T) (s *server, lines func() []logLine) {
	log := new(bytes.Buffer)
	s = newServer(t, func(o *api.Options, q *stubQuery) {
		o.Development, o.Origins = true, []string{page}
		o.Traffic = telemetry.NewTraffic(slog.New(slog.NewJSONHandler(log, nil)), nil)
		q.deletePost = func(context.Context) (*model.DeletePostPayload, error) {
			return nil, blog.Errorf(blog.Forbidden, "Only its author can delete a post.")
		}
		q.userByUsername = func(context.Context, string) (*blog.User, error) { return nil, fmt.Errorf("S3CRET") }
	})
	return s, func() (lines []logLine) {
		t.Helper()
		if strings.Contains(log.String(), "S3CRET") {
			t.Errorf("the log repeats a request: %s", log)
		}
		for decoder := json.NewDecoder(log); decoder.More(); {
			var line logLine
			if err := decoder.Decode(&line); err != nil {
				t.Fatal(err)
			}
			lines = append(lines, line)
		}
		log.Reset()
		return lines
	}
}

// TestEveryRequestIsLogged checks that each request has one line that agrees with its response,
// even if it was rejected.
func TestEveryRequestIsLogged(t *testing.T) {
	s, lines := newLoggedServer(t)
	post := func(body string, headers ...string) func() reply {
		return func() reply { return s.post(body, headers...) }
	}
	for name, c := range map[string]struct {
		send                  func() reply
		operation, kind, code string
	}{
		"a query":              {post(`{"query":"query Whoami{viewer{id username}}"}`), "Whoami", "query", ""},
		"an unnamed query":     {post(`{"query":"{viewer{id}}"}`), "", "query", ""},
		"the second operation": {post(`{"query":"query A{viewer{id}} query B{viewer{id}}","operationName":"B"}`), "B", "query", ""},
		"a mutation":           {post(`{"query":"mutation Name{deletePost(input:{id:\"` + blog.IDSource{}.NewPostID("", "") + `\"}){post{id}}}"}`), "Name", "mutation", "FORBIDDEN"},
		"a failure":            {post(`{"query":"query Fail{userByUsername(username:\"S3CRET\"){id}}"}`), "Fail", "query", "INTERNAL"},
		"several failures":     {post(`{"query":"query Fail{a:userByUsername(username:\"S3CRET\"){id} b:user(id:\"S3CRET\"){id}}"}`), "Fail", "query", "BAD_USER_INPUT,INTERNAL"},
		"an unknown field":     {post(`{"query":"query S3CRET{S3CRET}"}`), "", "", "GRAPHQL_VALIDATION_FAILED"},
		"an invalid body":      {post(`S3CRET`), "", "", "BAD_USER_INPUT"},
		"another media type":   {post(`{}`, "Content-Type", "text/S3CRET"), "", "", "BAD_USER_INPUT"},
		"too large":            {post(strings.Repeat("S3CRET", 1<<20)), "", "", "LIMIT_EXCEEDED"},
		"a bad token":          {post(`{"query":"{viewer{id}}"}`, "Authorization", "Bearer S3CRET"), "", "", "UNAUTHENTICATED"},
		"a panic":              {post(`{"query":"{viewer{id}}"}`, "Authorization", "Bearer panic"), "", "", "INTERNAL"},
		"a mutation by GET": {func() reply {
			return s.do("GET", "/graphql?query=mutation+M{deletePost(input:{id:\"S3CRET\"}){post{id}}}", "")
		}, "", "", "BAD_USER_INPUT"},
		"another method": {func() reply { return s.do("DELETE", "/graphql", "") }, "", "", "BAD_USER_INPUT"},
		"a foreign host": {func() reply { return s.doAs("S3CRET.example.com") }, "", "", "FORBIDDEN"},
		"a foreign page": {func() reply { return s.doAs("127.0.0.1", "Origin", "http://S3CRET.example.com") }, "", "", "FORBIDDEN"},
	} {
		r := c.send()
		got := lines()
		if len(got) != 1 {
			t.Errorf("%s: %d log lines, want 1", name, len(got))
			continue
		}
		line := got[0]
		level := "INFO"
		if strings.Contains(c.code, "INTERNAL") {
			level = "ERROR"
		}
		if line.Msg != "request" || line.Operation != c.operation || line.Type != c.kind || !sameCodes(line.Code, c.code) || line.Level != level ||
			line.Status != r.Code || line.Bytes != r.Body.Len() || line.Client != "192.0.2.1" {
			t.Errorf("%s: %d %s is logged as %+v", name, r.Code, r.Body, line)
		}
		if failed := level == "ERROR"; failed != (line.ErrorID != "") || failed && !strings.Contains(r.Body.String(), line.ErrorID) {
			t.Errorf("%s: %s does not have the error id %q", name, r.Body, line.ErrorID)
		}
	}
}

// sameCodes compares lists of one or two codes in any order, because fields run concurrently.
func sameCodes(got, want string) bool {
	a, b, several := strings.Cut(want, ",")
	return got == want || several && got == b+","+a
}

// TestOtherRequestsAreNotLogged checks that only /graphql is logged. Readiness probes would fill
// the log.
func TestOtherRequestsAreNotLogged(t *testing.T) {
	s, lines := newLoggedServer(t)
	for _, target := range []string{"/healthz", "/readyz", "/icon.svg", "/nothing", "/playground"} {
		s.do("GET", target, "")
		if got := lines(); len(got) != 0 {
			t.Errorf("%s is logged: %v", target, got)
		}
	}
}
