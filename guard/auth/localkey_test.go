package auth_test

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"cosmosblog/blog"
	"cosmosblog/guard/auth"
)

var now = time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC)

func openKey(t *testing.T, folder string) auth.LocalKey {
	t.Helper()
	key, err := auth.OpenLocalKey(folder)
	if err != nil {
		t.Fatal(err)
	}
	key.Now = func() time.Time { return now }
	return key
}

func TestTokenNamesItsAccount(t *testing.T) {
	folder := t.TempDir()
	token, err := openKey(t, folder).Token("anna@example.com", now, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	account, err := openKey(t, folder).Verify(context.Background(), token) // opened again, as after a restart
	want := blog.Account{Issuer: auth.LocalIssuer, Subject: "anna@example.com"}
	if err != nil || account != want {
		t.Errorf("got %v, %v; want %v", account, err, want)
	}
}

func TestTokenRejectsSubjects(t *testing.T) {
	key := openKey(t, t.TempDir())
	for _, subject := range []string{"", strings.Repeat("a", 256), "Jürgen", "a\nb", "\x00", "\xff"} {
		if token, err := key.Token(subject, now, time.Hour); err == nil {
			t.Errorf("%q: got %s", subject, token)
		}
	}
}

// claims returns the claims of a valid token with a change.
func claims(change func(jwt.MapClaims)) jwt.MapClaims {
	c := jwt.MapClaims{"iss": auth.LocalIssuer, "sub": "anna", "exp": now.Add(time.Hour).Unix()}
	change(c)
	return c
}

// same is the empty change.
func same(jwt.MapClaims) {}

// sign signs claims. The header fields are alternating names and values. The value nil removes
// a field.
func sign(t testing.TB, method jwt.SigningMethod, key any, c jwt.MapClaims, header ...any) string {
	t.Helper()
	token := jwt.NewWithClaims(method, c)
	for i := 0; i < len(header); i += 2 {
		token.Header[header[i].(string)] = header[i+1]
		if header[i+1] == nil {
			delete(token.Header, header[i].(string))
		}
	}
	text, err := token.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestLocalKeyRejects(t *testing.T) {
	folder := t.TempDir()
	key := openKey(t, folder)
	private := privateKey(t, folder)
	edDSA := func(change func(jwt.MapClaims), header ...any) string {
		return sign(t, jwt.SigningMethodEdDSA, private, claims(change), header...)
	}
	good := edDSA(same)
	if _, err := key.Verify(context.Background(), good); err != nil {
		t.Fatalf("the valid token is rejected: %v", err)
	}
	fraction := edDSA(func(c jwt.MapClaims) { c["nbf"], c["exp"] = float64(now.Unix())-0.5, float64(now.Unix())+60.5 })
	if _, err := key.Verify(context.Background(), fraction); err != nil {
		t.Errorf("fractions of seconds, which RFC 7519 permits, are rejected: %v", err)
	}
	stranger, err := openKey(t, t.TempDir()).Token("anna", now, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ token, message string }{
		"empty":              {"", "not a JSON Web Token"},
		"no token":           {"anna", "not a JSON Web Token"},
		"expired":            {edDSA(func(c jwt.MapClaims) { c["exp"] = now.Add(-time.Second).Unix() }), "has expired"},
		"without expiry":     {edDSA(func(c jwt.MapClaims) { delete(c, "exp") }), "lacks a claim"},
		"not yet valid":      {edDSA(func(c jwt.MapClaims) { c["nbf"] = now.Add(time.Minute).Unix() }), "not valid yet"},
		"nbf out of range":   {edDSA(func(c jwt.MapClaims) { c["nbf"] = 1e300 }), "not valid"},
		"nbf below range":    {edDSA(func(c jwt.MapClaims) { c["nbf"] = -1e300 }), "not valid"},
		"nbf before 1970":    {edDSA(func(c jwt.MapClaims) { c["nbf"] = -1 }), "not valid"},
		"nbf in ms":          {edDSA(func(c jwt.MapClaims) { c["nbf"] = now.UnixMilli() }), "not valid yet"},
		"nbf absent in JSON": {edDSA(func(c jwt.MapClaims) { c["nbf"] = nil }), "not valid"},
		"exp out of range":   {edDSA(func(c jwt.MapClaims) { c["exp"] = 1e300 }), ""},
		"exp in year 10000":  {edDSA(func(c jwt.MapClaims) { c["exp"] = 253402300800 }), "not valid"},
		"iat out of range":   {edDSA(func(c jwt.MapClaims) { c["iat"] = 1e300 }), "not valid"},
		"iat as text":        {edDSA(func(c jwt.MapClaims) { c["iat"] = "now" }), "not valid"},
		"another issuer":     {edDSA(func(c jwt.MapClaims) { c["iss"] = "https://example.com" }), "another issuer"},
		"without issuer":     {edDSA(func(c jwt.MapClaims) { delete(c, "iss") }), "lacks a claim"},
		"without subject":    {edDSA(func(c jwt.MapClaims) { delete(c, "sub") }), "not valid"},
		"another key":        {stranger, "a key that this server trusts"},
		"unsigned":           {sign(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, claims(same)), "a key that this server trusts"},
		"HMAC by public key": {sign(t, jwt.SigningMethodHS256, []byte(private.Public().(ed25519.PublicKey)), claims(same)), "a key that this server trusts"},
		"critical extension": {edDSA(same, "crit", []string{"b64"}), "a key that this server trusts"},
		"cut":                {good[:len(good)-2], ""},
		"last bits set":      {flipLast(good), ""},
		"claims exchanged":   {exchangeClaims(good), "a key that this server trusts"},
	} {
		account, err := key.Verify(context.Background(), c.token)
		if blog.CodeOf(err) != blog.Unauthenticated || account != (blog.Account{}) || !strings.Contains(err.Error(), c.message) {
			t.Errorf("%s: got %v, %v", name, account, err)
		}
	}
}

// flipLast changes only bits that a lenient base64 decoder ignores. The last of 86 characters
// carries two significant bits.
func flipLast(token string) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := strings.IndexByte(alphabet, token[len(token)-1])
	return token[:len(token)-1] + string(alphabet[last^1])
}

func exchangeClaims(token string) string {
	parts := strings.Split(token, ".")
	parts[1] = base64.RawURLEncoding.EncodeToString([]byte(`{"iss":"cosmosblog-local","sub":"bert","exp":4102444800}`))
	return strings.Join(parts, ".")
}

func privateKey(t *testing.T, folder string) ed25519.PrivateKey {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, auth.LocalKeyFile))
	if err != nil {
		t.Fatal(err)
	}
	key, err := jwt.ParseEdPrivateKeyFromPEM(text)
	if err != nil {
		t.Fatal(err)
	}
	return key.(ed25519.PrivateKey)
}

func TestOpenLocalKeyRejectsOtherFiles(t *testing.T) {
	for name, text := range map[string]string{
		"empty":            "",
		"no PEM":           "hello",
		"a public key":     "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----\n",
		"not to be parsed": "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
	} {
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, auth.LocalKeyFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := auth.OpenLocalKey(folder); err == nil || !strings.Contains(err.Error(), "delete the file") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
