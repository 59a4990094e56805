package embedded

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"hash"
	"net/http"
	"net/url"
	"strings"
)

// authorize checks who sends a request: who has the master key may do everything; with Options.Entra, who shows a token of
// Entra ID may work with items and execute stored procedures, but not manage.
func (e *Engine) authorize(r *http.Request, t target) error {
	token, err := url.QueryUnescape(r.Header.Get("Authorization"))
	if err != nil || token == "" {
		return errorf(http.StatusUnauthorized, 0, "Required Header authorization is missing. Ensure a valid Authorization token is passed.")
	}
	if jwt, ok := strings.CutPrefix(token, "type=aad&ver=1.0&sig="); ok && e.options.Entra {
		return authorizeEntra(r.Method, t, jwt)
	}
	signature, ok := strings.CutPrefix(token, "type=master&ver=1.0&sig=")
	given, err := base64.StdEncoding.DecodeString(signature)
	if !ok || err != nil {
		return errorf(http.StatusUnauthorized, 0, "The input authorization token is not of the form type=master&ver=1.0&sig=…")
	}
	kind, link := t.signed()
	payload := signedPayload(r, kind, link)
	if !e.signs(payload, given) && !e.signs(signedPayload(r, kind, t.resourceID()), given) {
		return errorf(http.StatusUnauthorized, 0, "The input authorization token can't serve the request. The wrong key is being used or the expected payload is not built as per the protocol. Server used the following payload to sign: '%s'",
			strings.ReplaceAll(payload, "\n", "\\n"))
	}
	return nil
}

// signs tells whether a signature of a text was made with the master key.
func (e *Engine) signs(payload string, signature []byte) bool {
	mac, ok := e.macs.Get().(hash.Hash) // of the key
	if !ok {
		mac = hmac.New(sha256.New, e.key)
	}
	defer e.macs.Put(mac)
	mac.Reset()
	mac.Write([]byte(payload))
	var sum [sha256.Size]byte
	return hmac.Equal(mac.Sum(sum[:0]), signature)
}

// signedPayload is what the master key signs: the verb, the kind of resource, its link and the date (REST reference,
// "Access control in the Azure Cosmos DB SQL API").
func signedPayload(r *http.Request, kind, link string) string {
	return strings.ToLower(r.Method) + "\n" + kind + "\n" + link + "\n" + strings.ToLower(r.Header.Get("X-Ms-Date")) + "\n\n"
}

// substatusEntraManagement goes with the 403 of what an Entra ID token may not do, whatever its roles.
const substatusEntraManagement = 5300

// authorizeEntra takes any well-formed token: who issued it, and to whom, is not looked at. It refuses what the service's
// data plane refuses every token: reading and writing scripts, and making, changing and deleting databases, containers
// and throughputs. It is for tests of what a program needs the master key for.
func authorizeEntra(method string, t target, jwt string) error {
	if strings.Count(jwt, ".") != 2 {
		return errorf(http.StatusUnauthorized, 0, "The Entra ID token is not a JSON Web Token.")
	}
	switch kind, _ := t.signed(); kind {
	case "", "pkranges", "docs":
		return nil
	case "dbs", "colls":
		if method == http.MethodGet && len(t.names) == len(t.kinds) {
			return nil
		}
	case "sprocs":
		if method == http.MethodPost && len(t.names) == len(t.kinds) {
			return nil // its execution
		}
	}
	return errorf(http.StatusForbidden, substatusEntraManagement, "Request blocked by Auth: the given request [%s %s] cannot be authorized by AAD token in data plane.", method, t.pattern())
}
