package httpapi

import (
	"net/http"
	"slices"
	"strings"
)

// What pages of allowed origins may send and read beyond what every page may. No answer lets credentials in: there are no
// cookies, and a token is the page's own to send. An Accept of more than 128 bytes, or with a quote, is asked for (Fetch, section
// 2.2.2, "CORS-safelisted request-header").
var (
	corsMethods = "GET, POST"
	corsHeaders = strings.Join(append([]string{"Accept", "Authorization", "Content-Type", "Traceparent", "Tracestate", "X-Cosmos-Diagnostics",
		"Apollographql-Client-Name", "Apollographql-Client-Version"}, preflightHeaders...), ", ")
	corsExposed = "Retry-After, WWW-Authenticate"
)

// corsMaxAge is how long a browser may remember what it may send, in seconds: two hours, the longest that Chrome takes.
const corsMaxAge = "7200"

// shared lets the pages of allowed origins use what is behind it, refusals included: a page that cannot read a 401 or a 429
// cannot act on it.
func (a *api) shared(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Vary", "Origin")
		allowed := a.isAllowedOrigin(r)
		if allowed {
			w.Header().Set("Access-Control-Allow-Origin", r.Header.Get("Origin"))
			w.Header().Set("Access-Control-Expose-Headers", corsExposed)
		}
		switch {
		case !isPreflight(r):
			next.ServeHTTP(w, r)
		case allowed:
			answerPreflight(w)
		default:
			a.refuse(w, r, errOriginRefused)
		}
	})
}

// isPreflight tells whether a browser asks what a page of another origin may send.
func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Origin") != "" && r.Header.Get("Access-Control-Request-Method") != ""
}

// answerPreflight tells all that may be sent, whatever was asked for.
func answerPreflight(w http.ResponseWriter) {
	w.Header().Set("Access-Control-Allow-Methods", corsMethods)
	w.Header().Set("Access-Control-Allow-Headers", corsHeaders)
	w.Header().Set("Access-Control-Max-Age", corsMaxAge)
	w.WriteHeader(preflightStatus)
}

// isAllowedOrigin tells whether a request comes from a page of an origin that is allowed.
func (a *api) isAllowedOrigin(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	return len(origins) == 1 && slices.Contains(a.Origins, origins[0])
}
