package engine

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"hash"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// authorize checks a request's Authorization header. The master key permits every operation.
// With Options.Entra, an Entra ID token permits reading and writing items and executing stored
// procedures, but no management operations.
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
	signed := t.decodedAgain()
	if !e.signs(r, signed, target.appendLink, given) && !e.signs(r, signed, target.appendResourceID, given) {
		return errorf(http.StatusUnauthorized, 0, "The input authorization token can't serve the request. The wrong key is being used or the expected payload is not built as per the protocol. Server used the following payload to sign: '%s'",
			strings.ReplaceAll(strings.ToValidUTF8(string(signedPayload(nil, r, signed, target.appendLink)), "\ufffd"), "\n", "\\n"))
	}
	return nil
}

// accountKey is a master key.
type accountKey struct {
	bytes   []byte
	signers sync.Pool // of *signer
}

// signer computes signatures with the master key. Requests share signers through a pool.
type signer struct {
	mac          hash.Hash
	payload, sum []byte // of the last signature; kept for their memory
}

// signs reports whether signature is the master key's signature of a request, with the link that
// appendLink appends.
func (e *Engine) signs(r *http.Request, t target, appendLink func(target, []byte) []byte, signature []byte) bool {
	key := e.key.Load()
	s, ok := key.signers.Get().(*signer)
	if !ok {
		s = &signer{mac: hmac.New(sha256.New, key.bytes)}
	}
	defer key.signers.Put(s)
	s.payload = signedPayload(s.payload[:0], r, t, appendLink)
	s.mac.Reset()
	s.mac.Write(s.payload)
	s.sum = s.mac.Sum(s.sum[:0])
	return hmac.Equal(s.sum, signature)
}

// Sign signs a request with a master key in base64, as clients do: it sets X-Ms-Date and
// Authorization. Error: the key is malformed.
func Sign(r *http.Request, key string) error {
	decoded, err := base64.StdEncoding.DecodeString(key)
	if err != nil {
		return err
	}
	t, _ := parseTarget(r.URL.EscapedPath()) // the engine rejects an invalid path
	r.Header.Set("X-Ms-Date", time.Now().UTC().Format(http.TimeFormat))
	mac := hmac.New(sha256.New, decoded)
	mac.Write(signedPayload(nil, r, t, target.appendLink))
	signature := base64.StdEncoding.EncodeToString(mac.Sum(nil))
	r.Header.Set("Authorization", url.QueryEscape("type=master&ver=1.0&sig="+signature))
	return nil
}

// signedPayload appends the text that a master key signature covers: verb, resource kind, link
// and date (REST reference, "Access control in the Azure Cosmos DB SQL API").
func signedPayload(payload []byte, r *http.Request, t target, appendLink func(target, []byte) []byte) []byte {
	payload = append(appendLower(payload, r.Method), '\n')
	payload = append(append(payload, t.kind()...), '\n')
	payload = append(appendLink(t, payload), '\n')
	return append(appendLower(payload, r.Header.Get("X-Ms-Date")), "\n\n"...)
}

// appendLower appends a text with its ASCII letters in lower case.
func appendLower(to []byte, text string) []byte {
	for i := range len(text) {
		c := text[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		to = append(to, c)
	}
	return to
}

// substatusEntraManagement accompanies the 403 for operations that the data plane denies to
// every Entra ID token, even with every role.
const substatusEntraManagement = 5300

// authorizeEntra accepts any well-formed token and checks neither issuer nor audience. It
// rejects the operations that the service's data plane denies to every token: reading and
// writing scripts, and creating, changing or deleting databases, containers and throughput.
// Tests use it to find out which operations of a program need the master key.
func authorizeEntra(method string, t target, jwt string) error {
	if strings.Count(jwt, ".") != 2 {
		return errorf(http.StatusUnauthorized, 0, "The Entra ID token is not a JSON Web Token.")
	}
	switch t.kind() {
	case "", "pkranges", "docs":
		return nil
	case "dbs", "colls":
		if method == http.MethodGet && len(t.names) == len(t.kinds) {
			return nil
		}
	case "sprocs":
		if method == http.MethodPost && len(t.names) == len(t.kinds) {
			return nil // execution
		}
	}
	return errorf(http.StatusForbidden, substatusEntraManagement, "Request blocked by Auth: the given request [%s %s] cannot be authorized by AAD token in data plane.", method, t.appendPattern(nil))
}

func masterKey(text string) ([]byte, error) {
	if text == "" {
		key := make([]byte, 64)
		rand.Read(key)
		return key, nil
	}
	key, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("engine: the master key is not base64: %w", err)
	}
	return key, nil
}

// Key returns the account's master key in base64.
func (e *Engine) Key() string { return base64.StdEncoding.EncodeToString(e.key.Load().bytes) }

// SetKey replaces the master key, as an account does whose key is regenerated: requests that are
// signed with the former one get 401. The key is in base64; if it is empty, it is random. SetKey
// may be called concurrently with requests. Error: the key is malformed.
func (e *Engine) SetKey(key string) error {
	decoded, err := masterKey(key)
	if err != nil {
		return err
	}
	e.key.Store(&accountKey{bytes: decoded})
	return nil
}
