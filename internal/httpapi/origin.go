package httpapi

import (
	"net/http"
	"net/url"
	"strings"

	"cosmosblog/internal/loopback"
)

// local refuses, in development, what is not meant for this machine or comes from a web page of elsewhere that is not
// allowed. The GETs of such a page's pictures and links pass: see isForeign.
func (a *api) local(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !loopback.Is(r.Host) || !loopback.IsLocalPage(r) && !a.isAllowedOrigin(r) {
			a.refuse(w, r, errNotLocal)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// preflightHeaders cannot be on a request of a page of another site, unless the browser asked this server first, and was
// told that it may (see shared). They are those that clients of GraphQL send to say that they are no picture and no link.
var preflightHeaders = []string{"Apollo-Require-Preflight", "GraphQL-Require-Preflight", "X-Apollo-Operation-Name"}

// isForeign tells whether a browser sends a GET for a page of another site that is not allowed: a picture, a script, a link.
// It could not read the answer, but the query would run. A POST needs no such check: its Content-Type makes the browser ask
// first.
func (a *api) isForeign(r *http.Request) bool {
	for _, name := range preflightHeaders {
		if r.Header.Get(name) != "" {
			return false
		}
	}
	if a.isAllowedOrigin(r) {
		return false
	}
	if r.Header.Get("Sec-Fetch-Site") == "cross-site" {
		return true
	}
	host := a.hostOf(r)
	for _, text := range r.Header.Values("Origin") {
		if origin, err := url.Parse(text); err != nil || !strings.EqualFold(origin.Host, host) {
			return true
		}
	}
	return false
}
