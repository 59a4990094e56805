package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"cosmosblog/graph/model"
	"cosmosblog/internal/blog"
	"cosmosblog/internal/httpapi"
	"cosmosblog/internal/telemetry"
)

// told is the line of a log that a request has.
type told struct {
	Msg, Level, Operation, Type, Code, ErrorID, Client string
	Status, Bytes                                      int
}

// newToldServer gives a server of an API that is told of, and what takes the lines that were
// logged since it was last asked.
func newToldServer(t *testing.T) (s *server, lines func() []told) {
	log := new(bytes.Buffer)
	s = newServer(t, func(o *httpapi.Options, q *stubQuery) {
		o.Development = true
		o.Traffic = telemetry.NewTraffic(telemetry.TrafficOptions{Logger: slog.New(slog.NewJSONHandler(log, nil))})
		q.deletePost = func(context.Context) (*model.DeletePostPayload, error) {
			return nil, blog.Errorf(blog.Forbidden, "That is not yours.")
		}
		q.nobody = func(context.Context, string) (*blog.User, error) { return nil, fmt.Errorf("S3CRET") }
	})
	return s, func() (lines []told) {
		t.Helper()
		if strings.Contains(log.String(), "S3CRET") {
			t.Errorf("the log tells what is in a request: %s", log)
		}
		for decoder := json.NewDecoder(log); decoder.More(); {
			var line told
			if err := decoder.Decode(&line); err != nil {
				t.Fatal(err)
			}
			lines = append(lines, line)
		}
		log.Reset()
		return lines
	}
}

// Every request has one line, whoever refuses it, and the line says what the answer says.
func TestEveryRequestHasALine(t *testing.T) {
	s, lines := newToldServer(t)
	post := func(body string, headers ...string) func() reply {
		return func() reply { return s.post(body, headers...) }
	}
	for name, c := range map[string]struct {
		send                  func() reply
		operation, kind, code string
	}{
		"a query":          {post(`{"query":"query Whoami{viewer{id username}}"}`), "Whoami", "query", ""},
		"without a name":   {post(`{"query":"{viewer{id}}"}`), "", "query", ""},
		"one of two":       {post(`{"query":"query A{viewer{id}} query B{viewer{id}}","operationName":"B"}`), "B", "query", ""},
		"a mutation":       {post(`{"query":"mutation Name{deletePost(input:{id:\"` + model.EncodeID(blog.Ref{Type: blog.TypePost, PartitionKey: "S3CRET", ID: "S3CRET"}) + `\"}){post{id}}}"}`), "Name", "mutation", "FORBIDDEN"},
		"a failure":        {post(`{"query":"query Fail{userByUsername(username:\"S3CRET\"){id}}"}`), "Fail", "query", "INTERNAL"},
		"several failures": {post(`{"query":"query Fail{a:userByUsername(username:\"S3CRET\"){id} b:user(id:\"S3CRET\"){id}}"}`), "Fail", "query", "BAD_USER_INPUT,INTERNAL"},
		"an unknown field": {post(`{"query":"query S3CRET{S3CRET}"}`), "", "", "BAD_USER_INPUT"},
		"no GraphQL":       {post(`S3CRET`), "", "", "BAD_USER_INPUT"},
		"another type":     {post(`{}`, "Content-Type", "text/S3CRET"), "", "", "BAD_USER_INPUT"},
		"too large":        {post(strings.Repeat("S3CRET", 1<<20)), "", "", "BAD_USER_INPUT"},
		"a bad token":      {post(`{"query":"{viewer{id}}"}`, "Authorization", "Bearer S3CRET"), "", "", "UNAUTHENTICATED"},
		"a panic":          {post(`{"query":"{viewer{id}}"}`, "Authorization", "Bearer panic"), "", "", "INTERNAL"},
		"a mutation by GET": {func() reply {
			return s.do("GET", "/graphql?query=mutation+M{deletePost(input:{id:\"S3CRET\"}){post{id}}}", "")
		}, "", "", "BAD_USER_INPUT"},
		"another method": {func() reply { return s.do("DELETE", "/graphql", "") }, "", "", "BAD_USER_INPUT"},
		"another host":   {func() reply { return s.doAs("S3CRET.example.com") }, "", "", "FORBIDDEN"},
		"another page":   {func() reply { return s.doAs("127.0.0.1", "Origin", "http://S3CRET.example.com") }, "", "", "FORBIDDEN"},
	} {
		r := c.send()
		got := lines()
		if len(got) != 1 {
			t.Errorf("%s has %d lines", name, len(got))
			continue
		}
		line := got[0]
		level := "INFO"
		if strings.Contains(c.code, "INTERNAL") {
			level = "ERROR"
		}
		if line.Msg != "request" || line.Operation != c.operation || line.Type != c.kind || !sameCodes(line.Code, c.code) || line.Level != level ||
			line.Status != r.Code || line.Bytes != r.Body.Len() || line.Client != "192.0.2.1" {
			t.Errorf("%s: %d %s is told as %+v", name, r.Code, r.Body, line)
		}
		if failed := level == "ERROR"; failed != (line.ErrorID != "") || failed && !strings.Contains(r.Body.String(), line.ErrorID) {
			t.Errorf("%s: %s has not the id %q", name, r.Body, line.ErrorID)
		}
	}
}

// sameCodes compares codes, which come in the order of the fields that were first.
func sameCodes(got, want string) bool {
	a, b, several := strings.Cut(want, ",")
	return got == want || several && got == b+","+a
}

// What is not the API itself has none: who asks whether a process is ready asks often.
func TestOtherRequestsHaveNoLine(t *testing.T) {
	s, lines := newToldServer(t)
	for _, target := range []string{"/healthz", "/readyz", "/", "/nothing", "/playground"} {
		s.do("GET", target, "")
		if got := lines(); len(got) != 0 {
			t.Errorf("%s has the lines %v", target, got)
		}
	}
}
