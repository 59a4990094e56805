package auth_test

import (
	"context"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"cosmosblog/blog"
	"cosmosblog/guard/auth"
)

// signText signs a header and claims exactly as they are written.
func signText(t *testing.T, key any, header, claims string) string {
	t.Helper()
	text := base64.RawURLEncoding.EncodeToString([]byte(header)) + "." + base64.RawURLEncoding.EncodeToString([]byte(claims))
	signature, err := jwt.SigningMethodEdDSA.Sign(text, key)
	if err != nil {
		t.Fatal(err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

// TestTokensWithDuplicateNamesAreRejected checks that a token cannot be read in two ways. Its
// signature is valid, because an issuer that copies a person's own claims could make one.
func TestTokensWithDuplicateNamesAreRejected(t *testing.T) {
	folder := t.TempDir()
	key := openKey(t, folder)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		account, err := key.Verify(context.Background(), strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		if err != nil {
			http.Error(w, err.(*blog.Error).Message, http.StatusUnauthorized)
			return
		}
		w.Header().Set("Subject", account.Subject)
	}))
	defer server.Close()
	const header, rest = `{"alg":"EdDSA"}`, `"iss":"` + auth.LocalIssuer + `","exp":4102444800`
	for name, c := range map[string]struct {
		header, claims string
		accepted       bool
	}{
		"no duplicates":            {header, `{"sub":"anna",` + rest + `,"x":[{"sub":1},{"sub":2}],"y":{"sub":3}}`, true},
		"other letters":            {header, `{"Sub":"bert","sub":"anna",` + rest + `}`, true},
		"two subjects":             {header, `{"sub":"bert","sub":"anna",` + rest + `}`, false},
		"two equal subjects":       {header, `{"sub":"anna","sub":"anna",` + rest + `}`, false},
		"an escaped subject":       {header, `{"s\u0075b":"bert","sub":"anna",` + rest + `}`, false},
		"two expiries":             {header, `{"sub":"anna","exp":1,` + rest + `}`, false},
		"a nested duplicate":       {header, `{"sub":"anna",` + rest + `,"act":{"sub":"a","sub":"b"}}`, false},
		"a duplicate in a list":    {header, `{"sub":"anna",` + rest + `,"x":[[{"a":1,"a":2}]]}`, false},
		"two algorithms":           {`{"alg":"none","alg":"EdDSA"}`, `{"sub":"anna",` + rest + `}`, false},
		"two types":                {`{"alg":"EdDSA","typ":"logout+jwt","typ":"JWT"}`, `{"sub":"anna",` + rest + `}`, false},
		"nested duplicates header": {`{"alg":"EdDSA","jwk":{"x":1,"x":2}}`, `{"sub":"anna",` + rest + `}`, false},
	} {
		request, err := http.NewRequest("GET", server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+signText(t, privateKey(t, folder), c.header, c.claims))
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		var message strings.Builder
		response.Write(&message)
		response.Body.Close()
		if accepted := response.Header.Get("Subject") == "anna"; accepted != c.accepted ||
			!accepted && !strings.Contains(message.String(), "repeats a name") {
			t.Errorf("%s: accepted: %v, %s", name, accepted, &message)
		}
	}
}
