package auth_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"cosmosblog/blog"
	"cosmosblog/guard/auth"
)

// FuzzVerify checks that only tokens with exactly the signed header and claims return an
// account, and that all others return UNAUTHENTICATED.
func FuzzVerify(f *testing.F) {
	local := must(auth.OpenLocalKey(f.TempDir()))
	verifiers := []struct {
		auth.Verifier
		signed string // a valid token
	}{
		{local, must(local.Token("anna", time.Now(), time.Hour))},
		{fuzzIssuer(f), sign(f, jwt.SigningMethodES256, ecKey(), good(same), "kid", "ec")},
	}
	for _, v := range verifiers {
		parts := strings.Split(v.signed, ".")
		f.Add(v.signed)
		f.Add(parts[0] + "." + parts[1] + ".")
		f.Add(exchangeClaims(v.signed))
		f.Add(flipLast(v.signed))
	}
	f.Add(sign(f, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, good(same)))
	f.Add(sign(f, jwt.SigningMethodRS256, rsaKey(), good(same), "kid", "unknown"))
	f.Add(sign(f, jwt.SigningMethodHS256, []byte("key"), good(same), "kid", "ec", "crit", []string{"b64"}, "typ", 1))
	f.Add("..")
	f.Fuzz(func(t *testing.T, token string) {
		for _, v := range verifiers {
			account, err := v.Verify(t.Context(), token)
			if err == nil {
				if !strings.HasPrefix(token, v.signed[:strings.LastIndex(v.signed, ".")+1]) || account.Subject != "anna" {
					t.Errorf("%q returns the account %v", token, account)
				}
				continue
			}
			known, ok := err.(*blog.Error)
			if !ok || known.Code != blog.Unauthenticated || account != (blog.Account{}) {
				t.Errorf("%q: got %v, %v", token, account, err)
			}
		}
	})
}

// fuzzIssuer returns a running Issuer that has read its keys.
func fuzzIssuer(f *testing.F) *auth.Issuer {
	i := newIssuer(allKeys()...)
	verifier := auth.NewIssuer(auth.IssuerOptions{Issuer: issuerName, Audience: audience, Transport: i})
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { verifier.Run(ctx) })
	f.Cleanup(func() { cancel(); running.Wait() })
	if _, err := verifier.Verify(ctx, sign(f, jwt.SigningMethodES256, ecKey(), good(same), "kid", "ec")); err != nil {
		f.Fatal(err)
	}
	return verifier
}

// FuzzKeys checks that no key set causes a panic, or makes a token valid whose key is not in
// it.
func FuzzKeys(f *testing.F) {
	f.Add([]byte(`{"keys": []}`))
	f.Add([]byte(`{"keys": [null, {}, {"kty": "RSA", "n": "AQAB", "e": "AQAB"}, {"kty": "EC", "crv": "P-256", "x": "", "y": ""}]}`))
	f.Add(must(json.Marshal(map[string]any{"keys": allKeys()[:12]})))
	token := sign(f, jwt.SigningMethodEdDSA, edKeys()[1], good(same), "kid", "ed")
	f.Fuzz(func(t *testing.T, text []byte) {
		i := newIssuer()
		i.answers[keysURL] = respond(string(text))
		verifier := auth.NewIssuer(auth.IssuerOptions{Issuer: issuerName, Audience: audience, Transport: i,
			Logger: slog.New(slog.DiscardHandler)})
		go verifier.Run(t.Context())
		account, err := verifier.Verify(t.Context(), token)
		if code := blog.CodeOf(err); err == nil || code != blog.Unauthenticated && code != blog.Internal {
			t.Errorf("%q: got %v, %v", text, account, err)
		}
	})
}
