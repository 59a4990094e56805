package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/golang-jwt/jwt/v5"

	"cosmosblog/proof/apitest"
)

// issuer is an OpenID Connect issuer on this machine, with TLS and one key at a time.
type issuer struct {
	url   string
	trust string // environment of a process that trusts its certificate

	mu     sync.Mutex
	id     string // of the key
	key    *ecdsa.PrivateKey
	status int // of its responses
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	i := &issuer{status: http.StatusOK}
	i.rotate(t, "first")
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", i.respond(func() any {
		return map[string]string{"issuer": i.url, "jwks_uri": i.url + "/keys"}
	}))
	mux.HandleFunc("/keys", i.respond(func() any {
		return jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: i.key.Public(), KeyID: i.id, Algorithm: "ES256", Use: "sig"}}}
	}))
	server := httptest.NewTLSServer(mux)
	t.Cleanup(server.Close)
	certificate := filepath.Join(t.TempDir(), "issuer.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(certificate, text, 0o600); err != nil {
		t.Fatal(err)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.url, i.trust = server.URL, "SSL_CERT_FILE="+certificate
	return i
}

func (i *issuer) respond(document func() any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		i.mu.Lock()
		defer i.mu.Unlock()
		w.WriteHeader(i.status)
		json.NewEncoder(w).Encode(document())
	}
}

func (i *issuer) rotate(t *testing.T, id string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.id, i.key = id, key
}

// setStatus sets the status of all further responses.
func (i *issuer) setStatus(status int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.status = status
}

// token returns a token for a subject and an audience, signed with the issuer's current key.
func (i *issuer) token(t *testing.T, subject, audience string) string {
	t.Helper()
	i.mu.Lock()
	defer i.mu.Unlock()
	claims := jwt.MapClaims{"iss": i.url, "aud": audience, "sub": subject, "exp": time.Now().Add(time.Hour).Unix()}
	token := jwt.NewWithClaims(jwt.SigningMethodES256, claims)
	token.Header["kid"] = i.id
	text, err := token.SignedString(i.key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// signInStatus sends a query with the client's token, and returns the status and headers of the
// response.
func signInStatus(t *testing.T, client *apitest.Client) (int, http.Header) {
	t.Helper()
	request, err := http.NewRequest(http.MethodPost, client.URL+"/graphql", strings.NewReader(`{"query": "{viewer {username}}"}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+client.Token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode, response.Header
}

// TestIssuer checks that a server with an issuer accepts only that issuer's tokens, and has no
// development features.
func TestIssuer(t *testing.T) {
	t.Parallel()
	i, data := newIssuer(t), t.TempDir()
	local := tokenFor(t, data, "anna")
	p := start(t, []string{i.trust}, "serve", "--addr", "127.0.0.1:0", "--data", data, "--issuer", i.url, "--audience", "blog")
	defer p.terminate(t)
	anonymous := &apitest.Client{URL: p.waitForLine(t, `at (http://\S+)/graphql`)}
	if line := p.waitForLine(t, `^(Reading needs .*)$`); !strings.Contains(line, "issuer "+i.url+" for the audience blog") {
		t.Errorf("got the line %q", line)
	}
	anna, bert := anonymous.WithToken(i.token(t, "anna", "blog")), anonymous.WithToken(i.token(t, "bert", "blog"))
	anna.CreateUser(t, "anna")
	bert.CreateUser(t, "bert")
	if username := usernameOf(t, anna); username != "anna" {
		t.Errorf("the username is %q, want anna", username)
	}
	first := i.token(t, "anna", "blog")
	i.rotate(t, "second")
	for name, token := range map[string]string{
		"the folder's local key":      local,
		"another audience":            i.token(t, "anna", "other"),
		"a key that is not known yet": i.token(t, "anna", "blog"),
		"no token":                    "anna",
	} {
		status, header := signInStatus(t, anonymous.WithToken(token))
		if challenge := header.Get("WWW-Authenticate"); status != http.StatusUnauthorized || !strings.Contains(challenge, "invalid_token") {
			t.Errorf("%s: status %d, %s", name, status, challenge)
		}
	}
	if status, _ := signInStatus(t, anonymous.WithToken(first)); status != http.StatusOK {
		t.Errorf("a token of the first key gets status %d", status)
	}
	for _, path := range []string{"/playground", "/metrics"} {
		requireStatus(t, anonymous.URL+path, http.StatusNotFound)
	}
	if got, err := anonymous.Send("{__schema{types{name}}}", nil); err != nil || len(got.Errors) == 0 {
		t.Errorf("introspection is on: %+v, %v", got, err)
	}
	if log := p.stderr.String(); strings.Contains(log, first) || strings.Contains(log, local) {
		t.Errorf("tokens are in the log: %s", log)
	}
}

func usernameOf(t *testing.T, a *apitest.Client) string {
	t.Helper()
	var got struct{ Viewer struct{ Username string } }
	a.Ask(t, "{viewer{username}}", nil, &got)
	return got.Viewer.Username
}

// TestIssuerIsDown checks that a server starts and answers anonymous requests without its
// issuer, and logs that.
func TestIssuerIsDown(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	i.setStatus(http.StatusBadGateway)
	p, anonymous := serving(t, []string{i.trust}, "--data", t.TempDir(), "--issuer", i.url, "--audience", "blog")
	defer p.terminate(t)
	status, header := signInStatus(t, anonymous.WithToken(i.token(t, "anna", "blog")))
	if status != http.StatusServiceUnavailable || header.Get("Retry-After") == "" {
		t.Errorf("status %d, %v", status, header)
	}
	anonymous.Ask(t, "{feed{nodes{id}}}", nil, nil)
	p.waitForLog(t, "the issuer's keys could not be read", "502")
}

// TestUntrustedIssuer checks that a server does not read keys from a host with an untrusted
// certificate.
func TestUntrustedIssuer(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	p, anonymous := serving(t, nil, "--data", t.TempDir(), "--issuer", i.url, "--audience", "blog")
	defer p.terminate(t)
	if status, _ := signInStatus(t, anonymous.WithToken(i.token(t, "anna", "blog"))); status != http.StatusServiceUnavailable {
		t.Errorf("status %d", status)
	}
	p.waitForLog(t, "certificate")
}

func TestIssuerExcludesLocalTokens(t *testing.T) {
	environment := map[string]string{"COSMOSBLOG_ISSUER": "https://login.example.com"}
	stdout, err := runOnce(t, environment, "token", "--sub", "anna", "--data", t.TempDir())
	if err == nil || stdout != "" || !strings.Contains(err.Error(), "https://login.example.com") {
		t.Errorf("got %q, %v", stdout, err)
	}
}
