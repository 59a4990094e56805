package auth_test

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"cosmosblog/blog"
)

// allKeys returns keys of each kind, including keys that must not be used.
func allKeys() []map[string]any {
	return []map[string]any{
		public("rsa", rsaKey().Public()),
		public("rs256", rsaKey().Public(), "alg", "RS256", "use", "sig", "key_ops", []string{"verify"}),
		public("ec", ecKey().Public()),
		public("ed", edKeys()[0].Public()),
		certified("certified"),
		public("encryption", rsaKey().Public(), "use", "enc"),
		public("signing", rsaKey().Public(), "key_ops", []string{"sign"}),
		public("short", shortKey().Public()),
		public("private", edKeys()[1]),
		public("leaky", rsaKey().Public(), "p", "AQAB"),
		public("shared", []byte("a key that everybody can read...")),
		public("twice", edKeys()[1].Public()),
		public("twice", edKeys()[2].Public()),
		{"kty": "AKP", "kid": "new", "alg": "ML-DSA-44", "pub": "AAAA"},
		{"kid": "nothing"},
	}
}

func TestIssuerAccepts(t *testing.T) {
	withIssuer(t, newIssuer(allKeys()...), func(v verifier) {
		skew := 29 * time.Second
		for name, token := range map[string]string{
			"RS256":                sign(t, jwt.SigningMethodRS256, rsaKey(), good(same), "kid", "rsa"),
			"PS256":                sign(t, jwt.SigningMethodPS256, rsaKey(), good(same), "kid", "rsa"),
			"algorithm of the key": sign(t, jwt.SigningMethodRS256, rsaKey(), good(same), "kid", "rs256"),
			"ES256":                sign(t, jwt.SigningMethodES256, ecKey(), good(same), "kid", "ec"),
			"EdDSA":                sign(t, jwt.SigningMethodEdDSA, edKeys()[0], good(same), "kid", "ed"),
			"with certificate":     sign(t, jwt.SigningMethodRS256, rsaKey(), good(same), "kid", "certified"),
			"no key id":            sign(t, jwt.SigningMethodES256, ecKey(), good(same)),
			"duplicate key id":     sign(t, jwt.SigningMethodEdDSA, edKeys()[2], good(same), "kid", "twice"),
			"a type":               sign(t, jwt.SigningMethodES256, ecKey(), good(same), "kid", "ec", "typ", "at+JWT"),
			"no type":              sign(t, jwt.SigningMethodES256, ecKey(), good(same), "kid", "ec", "typ", nil),
			"audiences":            signed(t, func(c jwt.MapClaims) { c["aud"] = []string{"other", audience} }),
			"just expired":         signed(t, func(c jwt.MapClaims) { c["exp"] = time.Now().Add(-skew).Unix() }),
			"just valid":           signed(t, func(c jwt.MapClaims) { c["nbf"] = time.Now().Add(skew).Unix() }),
			"just issued":          signed(t, func(c jwt.MapClaims) { c["iat"] = time.Now().Add(skew).Unix() }),
			"without iat":          signed(t, func(c jwt.MapClaims) { delete(c, "iat") }),
			"claims that differ in case": signed(t, func(c jwt.MapClaims) {
				c["Sub"], c["SUB"], c["ſub"], c["Iss"] = "bert", "bert", "bert", "https://evil.example"
			}),
		} {
			if account, err := v.verify(token); err != nil || account != (blog.Account{Issuer: issuerName, Subject: "anna"}) {
				t.Errorf("%s: got %v, %v", name, account, err)
			}
		}
	})
}

// signed returns a token with changed claims, signed by the issuer.
func signed(t *testing.T, change func(jwt.MapClaims)) string {
	t.Helper()
	return sign(t, jwt.SigningMethodES256, ecKey(), good(change), "kid", "ec")
}

func exchangeHeader(token, header string) string {
	_, rest, _ := strings.Cut(token, ".")
	return base64.RawURLEncoding.EncodeToString([]byte(header)) + "." + rest
}

func TestIssuerRejects(t *testing.T) {
	der, err := x509.MarshalPKIXPublicKey(rsaKey().Public())
	if err != nil {
		t.Fatal(err)
	}
	publicPEM := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	const untrusted = "a key that this server trusts"
	withIssuer(t, newIssuer(allKeys()...), func(v verifier) {
		skew := 31 * time.Second
		for name, c := range map[string]struct{ token, message string }{
			"nothing":                    {"", "not a JSON Web Token"},
			"no token":                   {"S3CRET", "not a JSON Web Token"},
			"encrypted":                  {"a.b.c.d.e", "not a JSON Web Token"},
			"too long":                   {signed(t, func(c jwt.MapClaims) { c["more"] = strings.Repeat("a", 16<<10) }), "longer than 16 KiB"},
			"expired":                    {signed(t, func(c jwt.MapClaims) { c["exp"] = time.Now().Add(-skew).Unix() }), "has expired"},
			"not yet valid":              {signed(t, func(c jwt.MapClaims) { c["nbf"] = time.Now().Add(skew).Unix() }), "not valid yet"},
			"issued in the future":       {signed(t, func(c jwt.MapClaims) { c["iat"] = time.Now().Add(skew).Unix() }), "not valid yet"},
			"without expiry":             {signed(t, func(c jwt.MapClaims) { delete(c, "exp") }), "lacks a claim"},
			"expiry as text":             {signed(t, func(c jwt.MapClaims) { c["exp"] = "S3CRET" }), "not valid"},
			"another issuer":             {signed(t, func(c jwt.MapClaims) { c["iss"] = "https://evil.example" }), "another issuer"},
			"issuer with a slash":        {signed(t, func(c jwt.MapClaims) { c["iss"] = issuerName + "/" }), "another issuer"},
			"without issuer":             {signed(t, func(c jwt.MapClaims) { delete(c, "iss") }), "another issuer"},
			"another audience":           {signed(t, func(c jwt.MapClaims) { c["aud"] = []string{"other"} }), "another audience"},
			"audience in another case":   {signed(t, func(c jwt.MapClaims) { c["aud"] = "Cosmosblog" }), "another audience"},
			"without audience":           {signed(t, func(c jwt.MapClaims) { delete(c, "aud") }), "lacks a claim"},
			"an audience in upper case":  {signed(t, func(c jwt.MapClaims) { delete(c, "aud"); c["AUD"] = audience }), "lacks a claim"},
			"without subject":            {signed(t, func(c jwt.MapClaims) { delete(c, "sub") }), "not valid"},
			"a subject with an umlaut":   {signed(t, func(c jwt.MapClaims) { c["sub"] = "Jürgen" }), "not valid"},
			"a numeric subject":          {signed(t, func(c jwt.MapClaims) { c["sub"] = 5 }), "not valid"},
			"a long subject":             {signed(t, func(c jwt.MapClaims) { c["sub"] = strings.Repeat("a", 256) }), "not valid"},
			"unsigned":                   {sign(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, good(same), "kid", "ec"), untrusted},
			"unsigned, without a key":    {sign(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, good(same)), untrusted},
			"HMAC by public key":         {sign(t, jwt.SigningMethodHS256, publicPEM, good(same), "kid", "rsa"), untrusted},
			"HMAC by public key, DER":    {sign(t, jwt.SigningMethodHS256, der, good(same), "kid", "rsa"), untrusted},
			"HMAC by the shared key":     {sign(t, jwt.SigningMethodHS256, []byte("a key that everybody can read..."), good(same), "kid", "shared"), untrusted},
			"an algorithm not allowed":   {sign(t, jwt.SigningMethodRS512, rsaKey(), good(same), "kid", "rsa"), untrusted},
			"another algorithm of a key": {sign(t, jwt.SigningMethodPS256, rsaKey(), good(same), "kid", "rs256"), untrusted},
			"a key for encryption":       {sign(t, jwt.SigningMethodRS256, rsaKey(), good(same), "kid", "encryption"), untrusted},
			"a key for signing":          {sign(t, jwt.SigningMethodRS256, rsaKey(), good(same), "kid", "signing"), untrusted},
			"a short key":                {sign(t, jwt.SigningMethodRS256, shortKey(), good(same), "kid", "short"), untrusted},
			"a published private key":    {sign(t, jwt.SigningMethodEdDSA, edKeys()[1], good(same), "kid", "private"), untrusted},
			"a key with a private part":  {sign(t, jwt.SigningMethodRS256, rsaKey(), good(same), "kid", "leaky"), untrusted},
			"another key":                {sign(t, jwt.SigningMethodEdDSA, edKeys()[1], good(same), "kid", "ed"), untrusted},
			"an unknown key":             {sign(t, jwt.SigningMethodEdDSA, edKeys()[0], good(same), "kid", "S3CRET"), untrusted},
			"a key by number":            {sign(t, jwt.SigningMethodEdDSA, edKeys()[0], good(same), "kid", 1), untrusted},
			"no key id, several keys":    {sign(t, jwt.SigningMethodEdDSA, edKeys()[0], good(same)), untrusted},
			"a key in the token":         {sign(t, jwt.SigningMethodEdDSA, edKeys()[1], good(same), "jwk", public("", edKeys()[1].Public()), "kid", "ed"), untrusted},
			"a URL of keys in the token": {sign(t, jwt.SigningMethodEdDSA, edKeys()[1], good(same), "jku", "https://evil.example/jwks", "kid", "ed"), untrusted},
			"critical extension":         {sign(t, jwt.SigningMethodES256, ecKey(), good(same), "kid", "ec", "crit", []string{"b64"}), untrusted},
			"another type":               {sign(t, jwt.SigningMethodES256, ecKey(), good(same), "kid", "ec", "typ", "logout+jwt"), untrusted},
			"a type by number":           {sign(t, jwt.SigningMethodES256, ecKey(), good(same), "kid", "ec", "typ", 1), untrusted},
			"an unknown algorithm":       {exchangeHeader(signed(t, same), `{"alg":"S3CRET","kid":"ec"}`), untrusted},
			"header is not an object":    {exchangeHeader(signed(t, same), `"S3CRET"`), "not a JSON Web Token"},
			"a numeric algorithm":        {exchangeHeader(signed(t, same), `{"alg":1e5345335,"kid":"ec"}`), "not a JSON Web Token"},
			"claims exchanged":           {exchangeClaims(signed(t, same)), ""},
			"last bits set":              {flipLast(signed(t, same)), ""},
		} {
			account, err := v.verify(c.token)
			if blog.CodeOf(err) != blog.Unauthenticated || account != (blog.Account{}) || !strings.Contains(err.Error(), c.message) {
				t.Errorf("%s: got %v, %v", name, account, err)
			}
			if message := err.Error(); strings.Contains(message, "S3CRET") || strings.Contains(message, "5345335") { // with the cause, which is logged
				t.Errorf("%s: %s quotes the token", name, message)
			}
		}
		if strings.Contains(v.log.String(), "S3CRET") {
			t.Errorf("the log quotes tokens: %s", v.log)
		}
	})
}
