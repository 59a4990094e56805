package api_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"cosmosblog/api"
	"cosmosblog/guard/auth"
)

const localTokenPath = "/development/token"

// newLocalServer returns a server in development that accepts the tokens of a new local key.
func newLocalServer(t *testing.T) (*server, auth.LocalKey) {
	t.Helper()
	key, err := auth.OpenLocalKey(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return newServer(t, func(o *api.Options, _ *stubQuery) { o.Development, o.Verifier = true, key }), key
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

// TestLocalTokenForAllowedOrigin checks that a page of an origin that the operator allowed gets a
// token, and that a preflight says so. Pages of other origins on this machine get neither.
func TestLocalTokenForAllowedOrigin(t *testing.T) {
	key, err := auth.OpenLocalKey(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	const local = "http://localhost:5173"
	s := newServer(t, func(o *api.Options, _ *stubQuery) {
		o.Development, o.Verifier, o.Origins = true, key, []string{page, local}
	})
	for origin, isAllowed := range map[string]bool{
		page: true, local: true, "http://localhost:5174": false, "https://localhost:5173": false, "https://evil.example": false,
	} {
		before := s.do("OPTIONS", localTokenPath, "", "Origin", origin,
			"Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "content-type")
		r := s.do("POST", localTokenPath, `{"name": "anna"}`, "Content-Type", "application/json", "Origin", origin)
		want, status, preflightStatus := "", 403, 403
		if isAllowed {
			want, status, preflightStatus = origin, 200, 204
		}
		for method, r := range map[string]reply{"OPTIONS": before, "POST": r} {
			if got := r.Header().Get("Access-Control-Allow-Origin"); got != want {
				t.Errorf("%s from %s: Access-Control-Allow-Origin is %q", method, origin, got)
			}
		}
		if before.Code != preflightStatus || r.Code != status || strings.Contains(r.Body.String(), `"token":`) != isAllowed {
			t.Errorf("%s: status %d after %d, %s", origin, r.Code, before.Code, r.Body)
		}
	}
}

// TestLocalTokenBehindDevelopmentServer checks that a page of a development server gets a token
// through its proxy. A proxy that replaces the Host needs an allowed origin.
func TestLocalTokenBehindDevelopmentServer(t *testing.T) {
	key, err := auth.OpenLocalKey(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	const front = "http://localhost:5173"
	for _, c := range []struct {
		keepsHost bool
		origins   []string
		status    int
	}{{true, nil, 200}, {false, nil, 403}, {false, []string{front}, 200}} {
		s := newServer(t, func(o *api.Options, _ *stubQuery) { o.Development, o.Verifier, o.Origins = true, key, c.origins })
		host := "127.0.0.1:8080"
		if c.keepsHost {
			host = strings.TrimPrefix(front, "http://")
		}
		r := s.send(host, "POST", localTokenPath, `{"name": "anna"}`, "Content-Type", "application/json", "Origin", front)
		if r.Code != c.status {
			t.Errorf("%+v: status %d, %s", c, r.Code, r.Body)
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
	for name, configure := range map[string]func(*api.Options, *stubQuery){
		"production":       func(o *api.Options, _ *stubQuery) { o.Verifier = key },
		"another verifier": inDevelopment,
	} {
		r := newServer(t, configure).do("POST", localTokenPath, `{"name": "anna"}`, "Content-Type", "application/json")
		if r.Code != 404 {
			t.Errorf("%s: status %d, %s", name, r.Code, r.Body)
		}
	}
}
