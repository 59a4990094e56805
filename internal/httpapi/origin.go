package httpapi

import (
	"net/http"
	"net/url"
	"strings"

	"cosmosblog/internal/loopback"
)

// local refuses, in development, what is not meant for this machine or does not come from its own pages: any web page can
// make a browser send requests to loopback, and can give a name of its own loopback's address. Requests of its scripts
// have a foreign Origin or Host. The GETs of its pictures and links have no Origin: see isForeign.
func (a *api) local(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !loopback.Is(r.Host) || !isLocalOrigin(r) {
			a.refuse(w, r, errNotLocal)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isLocalOrigin tells whether the request comes from no page, or from a page of this machine.
func isLocalOrigin(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return true
	}
	origin, err := url.Parse(origins[0])
	return len(origins) == 1 && err == nil && loopback.Is(origin.Host)
}

// preflightHeaders cannot be on a request of a page of another site, unless the browser asked this server first, and was
// told no. They are those that clients of GraphQL send to say that they are no picture and no link.
var preflightHeaders = []string{"Apollo-Require-Preflight", "GraphQL-Require-Preflight", "X-Apollo-Operation-Name"}

// isForeign tells whether a browser sends a GET for a page of another site: a picture, a script, a link. It could not read
// the answer, but the query would run. A POST needs no such check: its Content-Type makes the browser ask first.
func isForeign(r *http.Request) bool {
	for _, name := range preflightHeaders {
		if r.Header.Get(name) != "" {
			return false
		}
	}
	if r.Header.Get("Sec-Fetch-Site") == "cross-site" {
		return true
	}
	for _, text := range r.Header.Values("Origin") {
		if origin, err := url.Parse(text); err != nil || !strings.EqualFold(origin.Host, r.Host) {
			return true
		}
	}
	return false
}
