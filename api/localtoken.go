package api

import (
	"net/http"
	"time"

	"cosmosblog/api/strictjson"
	"cosmosblog/guard/auth"
)

// localTokenPath is the path that signs in by name, in development.
const localTokenPath = "/development/token"

// maxTokenRequestBytes is the maximum size of a request for a token. The longest name takes half of
// it, with every character escaped.
const maxTokenRequestBytes = 4 << 10

// tokenSigner signs local tokens. auth.LocalKey implements it.
type tokenSigner interface {
	Token(subject string, now time.Time, ttl time.Duration) (string, error)
}

// localToken responds to {"name": "anna"} with {"token": "…"}, the token that `token --sub anna`
// prints. Any name is accepted, so only pages of this server and of allowed origins may ask.
// Another page on this machine has another origin.
func (a *api) localToken(signer tokenSigner) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a.cors(w, r) {
			return
		}
		if r.Method != http.MethodPost {
			a.reject(w, r, errPostOnly)
			return
		}
		if !isSameOrigin(r.Header, a.Proxies.Host(r)) && !a.isAllowedOrigin(r) {
			a.logRefusedOrigin(r)
			a.reject(w, r, errOtherPage)
			return
		}
		name, rejected := readName(w, r)
		if rejected != nil {
			a.reject(w, r, rejected)
			return
		}
		token, err := signer.Token(name, a.Now(), auth.LocalTokenLifetime)
		if err != nil {
			a.reject(w, r, errBadName)
			return
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = w.Write(mustMarshal(map[string]string{"token": token})) // fails if the client is gone
	})
}

// readName reads the name of a request for a token.
func readName(w http.ResponseWriter, r *http.Request) (name string, rejected *rejection) {
	body, rejected := readJSON(w, r, maxTokenRequestBytes)
	if rejected != nil {
		return "", rejected
	}
	value, err := strictjson.Parse(body)
	object, _ := value.(map[string]any)
	if err != nil || !member(object, "name", &name) {
		return "", errBadName
	}
	return name, nil
}
