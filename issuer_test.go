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
)

// issuer is an OpenID Connect issuer on this machine, with one key at a time, that speaks TLS.
type issuer struct {
	url   string
	trust string // the setting of the environment that makes a process trust its certificate

	mu    sync.Mutex
	id    string
	key   *ecdsa.PrivateKey
	state int // of its answers
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	i := &issuer{state: http.StatusOK}
	i.rotate(t, "first")
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", i.answering(func() any {
		return map[string]string{"issuer": i.url, "jwks_uri": i.url + "/keys"}
	}))
	mux.HandleFunc("/keys", i.answering(func() any {
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

func (i *issuer) answering(document func() any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		i.mu.Lock()
		defer i.mu.Unlock()
		w.WriteHeader(i.state)
		json.NewEncoder(w).Encode(document())
	}
}

// rotate gives the issuer another key, and no other.
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

func (i *issuer) answers(state int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.state = state
}

// token is one for somebody and an audience, with the key that the issuer has now.
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

// status asks who the viewer is, and gives the answer's status and headers.
func (a *api) status(t *testing.T) (int, http.Header) {
	t.Helper()
	request, err := http.NewRequest(http.MethodPost, a.url+"/graphql", strings.NewReader(`{"query": "{viewer {username}}"}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+a.token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode, response.Header
}

// TestIssuer holds that a server with an issuer takes its tokens and nobody else's, and is no place of development.
func TestIssuer(t *testing.T) {
	i, data := newIssuer(t), t.TempDir()
	local := tokenFor(t, data, "anna")
	p := start(t, []string{i.trust}, "serve", "--addr", "127.0.0.1:0", "--data", data, "--issuer", i.url, "--audience", "blog")
	defer p.terminate(t)
	nobody := &api{url: p.says(t, `at (http://\S+)/graphql`)}
	if said := p.says(t, `^(Reading needs .*)$`); !strings.Contains(said, "issuer "+i.url+" for the audience blog") {
		t.Errorf("it said %q", said)
	}
	anna, bert := nobody.as(i.token(t, "anna", "blog")), nobody.as(i.token(t, "bert", "blog"))
	anna.createUser(t, "anna")
	bert.createUser(t, "bert")
	if who := usernameOf(t, anna); who != "anna" {
		t.Errorf("anna is %q", who)
	}
	first := i.token(t, "anna", "blog")
	i.rotate(t, "second")
	for name, token := range map[string]string{
		"the folder's local key":      local,
		"another audience":            i.token(t, "anna", "other"),
		"a key that is not known yet": i.token(t, "anna", "blog"),
		"no token":                    "anna",
	} {
		status, header := nobody.as(token).status(t)
		if challenge := header.Get("WWW-Authenticate"); status != http.StatusUnauthorized || !strings.Contains(challenge, "invalid_token") {
			t.Errorf("%s: status %d, %s", name, status, challenge)
		}
	}
	if status, _ := nobody.as(first).status(t); status != http.StatusOK {
		t.Errorf("the key that was read is no longer taken: %d", status)
	}
	for _, path := range []string{"/playground", "/metrics"} {
		checkStatus(t, nobody.url+path, http.StatusNotFound)
	}
	if got, err := nobody.send("{__schema{types{name}}}", nil); err != nil || len(got.Errors) == 0 {
		t.Errorf("it can be introspected: %+v, %v", got, err)
	}
	if log := p.stderr.String(); strings.Contains(log, first) || strings.Contains(log, local) {
		t.Errorf("tokens are in the log: %s", log)
	}
}

func usernameOf(t *testing.T, a *api) string {
	t.Helper()
	var got struct{ Viewer struct{ Username string } }
	a.ask(t, "{viewer{username}}", nil, &got)
	return got.Viewer.Username
}

// TestIssuerIsDown holds that a server starts and is read without its issuer, and says so.
func TestIssuerIsDown(t *testing.T) {
	i := newIssuer(t)
	i.answers(http.StatusBadGateway)
	p, nobody := serving(t, []string{i.trust}, "--data", t.TempDir(), "--issuer", i.url, "--audience", "blog")
	defer p.terminate(t)
	status, header := nobody.as(i.token(t, "anna", "blog")).status(t)
	if status != http.StatusServiceUnavailable || header.Get("Retry-After") == "" {
		t.Errorf("status %d, %v", status, header)
	}
	nobody.ask(t, "{feed{nodes{id}}}", nil, nil)
	if log := p.stderr.String(); !strings.Contains(log, "the issuer's keys could not be read") || !strings.Contains(log, "502") {
		t.Errorf("the log: %s", log)
	}
}

// TestIssuerThatIsNotTrusted holds that keys are not taken from whoever answers at the issuer's address.
func TestIssuerThatIsNotTrusted(t *testing.T) {
	i := newIssuer(t)
	p, nobody := serving(t, nil, "--data", t.TempDir(), "--issuer", i.url, "--audience", "blog")
	defer p.terminate(t)
	if status, _ := nobody.as(i.token(t, "anna", "blog")).status(t); status != http.StatusServiceUnavailable {
		t.Errorf("status %d", status)
	}
	if log := p.stderr.String(); !strings.Contains(log, "certificate") {
		t.Errorf("the log: %s", log)
	}
}

func TestNoLocalTokenBesideAnIssuer(t *testing.T) {
	environment := map[string]string{"COSMOSBLOG_ISSUER": "https://login.example.com"}
	stdout, err := runOnce(t, environment, "token", "--sub", "anna", "--data", t.TempDir())
	if err == nil || stdout != "" || !strings.Contains(err.Error(), "https://login.example.com") {
		t.Errorf("got %q, %v", stdout, err)
	}
}
