package httpapi_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"cosmosblog/internal/auth"
	"cosmosblog/internal/httpapi"
)

const localTokenPath = "/development/token"

// newLocalServer returns a server in development that accepts the tokens of a new local key.
func newLocalServer(t *testing.T) (*server, auth.LocalKey) {
	t.Helper()
	key, err := auth.OpenLocalKey(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return newServer(t, func(o *httpapi.Options, _ *stubQuery) { o.Development, o.Verifier = true, key }), key
}

func TestLocalToken(t *testing.T) {
	s, key := newLocalServer(t)
	for _, name := range []string{"anna", "a", "\\ \" <", strings.Repeat("x", auth.MaxSubjectLength)} {
		body, err := json.Marshal(map[string]string{"name": name})
		if err != nil {
			t.Fatal(err)
		}
		r := s.do("POST", localTokenPath, string(body), "Content-Type", "application/json", "Origin", "http://127.0.0.1:8080")
		var answer struct{ Token string }
		if err := json.Unmarshal(r.Body.Bytes(), &answer); r.Code != 200 || err != nil {
			t.Fatalf("%q: status %d, %s", name, r.Code, r.Body)
		}
		account, err := key.Verify(t.Context(), answer.Token)
		if err != nil || account.Subject != name || account.Issuer != auth.LocalIssuer {
			t.Errorf("%q: the token is of %+v, %v", name, account, err)
		}
		if r.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%q: Cache-Control %q", name, r.Header().Get("Cache-Control"))
		}
	}
}

func TestLocalTokenIsRefused(t *testing.T) {
	s, _ := newLocalServer(t)
	const body = `{"name": "anna"}`
	for _, c := range []struct {
		method, body string
		headers      []string // without a Content-Type, it is application/json
		status       int
	}{
		{"POST", `{"name": ""}`, nil, 400},
		{"POST", `{"name": "\u00e9"}`, nil, 400},
		{"POST", `{"name": "` + strings.Repeat("x", auth.MaxSubjectLength+1) + `"}`, nil, 400},
		{"POST", `{"name": 1}`, nil, 400},
		{"POST", `{}`, nil, 400},
		{"POST", `["anna"]`, nil, 400},
		{"POST", `{"name": "anna", "name": "bob"}`, nil, 400},
		{"POST", ``, nil, 400},
		{"POST", body + strings.Repeat(" ", 4<<10), nil, 413},
		{"POST", body, []string{"Content-Type", "text/plain"}, 415},
		{"POST", body, []string{"Content-Type", ""}, 415},
		{"POST", body, []string{"Origin", "https://evil.example"}, 403},
		{"POST", body, []string{"Origin", "null"}, 403},
		{"POST", body, []string{"Origin", "http://127.0.0.1:3000"}, 403}, // another page on this machine
		{"GET", "", nil, 405},
		{"PUT", body, nil, 405},
	} {
		headers := c.headers
		if !slices.Contains(headers, "Content-Type") {
			headers = append([]string{"Content-Type", "application/json"}, headers...)
		}
		r := s.do(c.method, localTokenPath, c.body, headers...)
		if r.Code != c.status || r.codes() == "" || strings.Contains(r.Body.String(), "token\":") {
			t.Errorf("%s %.50s, %v: status %d, want %d, %s", c.method, c.body, c.headers, r.Code, c.status, r.Body)
		}
		if r.Header().Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s %.50s: another origin may read the answer", c.method, c.body)
		}
	}
}

// TestNoLocalTokens checks the servers without /development/token: those of production, also if
// their verifier could sign, and those in development whose verifier cannot.
func TestNoLocalTokens(t *testing.T) {
	key, err := auth.OpenLocalKey(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, configure := range map[string]func(*httpapi.Options, *stubQuery){
		"production":       func(o *httpapi.Options, _ *stubQuery) { o.Verifier = key },
		"another verifier": inDevelopment,
	} {
		r := newServer(t, configure).do("POST", localTokenPath, `{"name": "anna"}`, "Content-Type", "application/json")
		if r.Code != 404 {
			t.Errorf("%s: status %d, %s", name, r.Code, r.Body)
		}
	}
}
