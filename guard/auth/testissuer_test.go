package auth_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/golang-jwt/jwt/v5"

	"cosmosblog/blog"
	"cosmosblog/guard/auth"
)

const (
	issuerName = "https://login.example.com/tenant"
	keysURL    = "https://keys.example.com/jwks"
	audience   = "cosmosblog"
)

// The keys are shared by all tests, because generating them takes longer than the tests.
var (
	rsaKey   = sync.OnceValue(func() *rsa.PrivateKey { return must(rsa.GenerateKey(rand.Reader, 2048)) })
	shortKey = sync.OnceValue(func() *rsa.PrivateKey { return must(rsa.GenerateKey(rand.Reader, 1024)) })
	ecKey    = sync.OnceValue(func() *ecdsa.PrivateKey { return must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)) })
	edKeys   = sync.OnceValue(func() [3]ed25519.PrivateKey {
		return [3]ed25519.PrivateKey{newEdKey(), newEdKey(), newEdKey()}
	})
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func newEdKey() ed25519.PrivateKey {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	return must(private, err)
}

// public returns a key as a JSON Web Key, with additional members as alternating names and
// values.
func public(id string, key any, members ...any) map[string]any {
	text := must(json.Marshal(jose.JSONWebKey{Key: key, KeyID: id}))
	jwk := map[string]any{}
	if err := json.Unmarshal(text, &jwk); err != nil {
		panic(err)
	}
	for i := 0; i < len(members); i += 2 {
		jwk[members[i].(string)] = members[i+1]
	}
	return jwk
}

// certified returns the RSA key with a certificate, as Entra ID and others publish it.
func certified(id string) map[string]any {
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	text := must(x509.CreateCertificate(rand.Reader, template, template, rsaKey().Public(), rsaKey()))
	thumbprint := sha1.Sum(text)
	return public(id, rsaKey().Public(), "use", "sig", "issuer", issuerName, "x5c", []string{base64.StdEncoding.EncodeToString(text)},
		"x5t", base64.RawURLEncoding.EncodeToString(thumbprint[:]))
}

// issuer is a transport that responds as an issuer.
type issuer struct {
	mu       sync.Mutex
	keys     []map[string]any
	answers  map[string]http.HandlerFunc // responses instead of the usual ones, by URL
	requests map[string]int              // by URL
	isDown   bool
	delay    time.Duration // before each answer
	headers  http.Header   // of the keys
}

func newIssuer(keys ...map[string]any) *issuer {
	return &issuer{keys: keys, answers: map[string]http.HandlerFunc{}, requests: map[string]int{}}
}

const discoveryURL = issuerName + "/.well-known/openid-configuration"

func (i *issuer) RoundTrip(r *http.Request) (*http.Response, error) {
	select { // before the lock: synctest advances no time while a goroutine waits for a mutex
	case <-time.After(i.delay):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	url := r.URL.String()
	i.requests[url]++
	if i.isDown {
		return nil, http.ErrServerClosed
	}
	recorder := httptest.NewRecorder()
	switch answer, ok := i.answers[url]; {
	case ok:
		answer(recorder, r)
	case url == discoveryURL:
		json.NewEncoder(recorder).Encode(map[string]any{"issuer": issuerName, "jwks_uri": keysURL})
	case url == keysURL:
		maps.Copy(recorder.Header(), i.headers)
		json.NewEncoder(recorder).Encode(map[string]any{"keys": i.keys})
	default:
		http.NotFound(recorder, r)
	}
	response := recorder.Result()
	response.Request = r
	return response, nil
}

// change changes the issuer under its lock.
func (i *issuer) change(change func(*issuer)) {
	i.mu.Lock()
	defer i.mu.Unlock()
	change(i)
}

func (i *issuer) requestCount(url string) int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.requests[url]
}

// verifier is a running auth.Issuer in a synctest bubble.
type verifier struct {
	*testing.T
	issuer *auth.Issuer
	log    *strings.Builder // read it only while all goroutines are blocked
}

// withIssuer runs a test in a synctest bubble, after the first read of the keys.
func withIssuer(t *testing.T, i *issuer, test func(verifier)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		log := &strings.Builder{}
		v := verifier{T: t, log: log, issuer: auth.NewIssuer(auth.IssuerOptions{
			Issuer: issuerName, Audience: audience, Transport: i,
			Logger: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		})}
		go v.issuer.Run(t.Context())
		synctest.Wait()
		test(v)
	})
}

func (v verifier) verify(token string) (blog.Account, error) {
	return v.issuer.Verify(v.Context(), token)
}

// accepts reports whether the token is valid. It fails the test if the account is not Anna's.
func (v verifier) accepts(token string) bool {
	v.Helper()
	account, err := v.verify(token)
	if want := (blog.Account{Issuer: issuerName, Subject: "anna"}); err == nil && account != want {
		v.Errorf("got account %v, want %v", account, want)
	}
	return err == nil
}

// rejects reports whether the token is rejected with a code and a part of the message.
func (v verifier) rejects(token string, code blog.Code, message string) bool {
	v.Helper()
	account, err := v.verify(token)
	return err != nil && blog.CodeOf(err) == code && account == (blog.Account{}) && strings.Contains(err.Error(), message)
}

// good returns the claims of a valid token with a change.
func good(change func(jwt.MapClaims)) jwt.MapClaims {
	c := jwt.MapClaims{"iss": issuerName, "aud": audience, "sub": "anna", "iat": time.Now().Unix(), "exp": time.Now().Add(100 * time.Hour).Unix()}
	change(c)
	return c
}
