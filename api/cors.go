package api

import (
	"net/http"
	"slices"
	"strings"
)

// The methods and headers that pages of allowed origins may send, and the headers they may read,
// beyond those that every page may. The headers are those of docs/clients.md: what the API reads,
// and what clients send without being asked.
//
// No response allows credentials: there are no cookies, and pages send tokens themselves. Accept
// is listed because browsers send a preflight for one with more than 128 bytes or with a quote
// (Fetch, section 2.2.2, "CORS-safelisted request-header"), and Last-Event-ID because clients
// other than EventSource send it by themselves.
var (
	corsMethods = "GET, POST"
	corsHeaders = strings.Join(append([]string{
		"Accept", "Authorization", "Content-Type", "If-None-Match", "Last-Event-ID", sessionHeader, diagnosticsHeader,
		"Traceparent", "Tracestate", "Baggage", "Sentry-Trace", // tracing libraries send them with every request
		"Apollographql-Client-Name", "Apollographql-Client-Version",
	}, preflightHeaders...), ", ")
	corsExposed = "ETag, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, " + sessionHeader
)

// sessionHeader is the header of a client's session token. Pages may send and read it, and caches
// must tell its values apart.
const sessionHeader = "Cosmosblog-Session"

// vary lists the headers of requests that answers of /graphql depend on. All responses share the
// slice, as those of securityHeaders.
var vary = []string{"Origin, Accept, Accept-Encoding, Authorization, " + sessionHeader}

// corsMaxAge is how long a browser may cache a preflight response, in seconds. Chrome caches for
// two hours at most.
const corsMaxAge = "7200"

// cors lets pages of allowed origins read the response to a request. It answers a preflight, and
// reports whether the request was one. Rejections need the headers too, because a page that cannot
// read a 401 or a 429 cannot handle it.
func (a *api) cors(w http.ResponseWriter, r *http.Request) (isAnswered bool) {
	w.Header()["Vary"] = vary
	allowed := a.isAllowedOrigin(r)
	if allowed {
		w.Header().Set("Access-Control-Allow-Origin", r.Header.Get("Origin"))
		w.Header().Set("Access-Control-Expose-Headers", corsExposed)
	}
	switch {
	case !isPreflight(r):
		return false
	case allowed:
		respondToPreflight(w)
	default:
		a.logRefusedOrigin(r)
		a.reject(w, r, errOriginNotAllowed)
	}
	return true
}

// isPreflight reports whether a request is a CORS preflight.
func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Origin") != "" && r.Header.Get("Access-Control-Request-Method") != ""
}

// respondToPreflight lists everything that is allowed, independent of the method and headers
// requested.
func respondToPreflight(w http.ResponseWriter) {
	w.Header().Set("Access-Control-Allow-Methods", corsMethods)
	w.Header().Set("Access-Control-Allow-Headers", corsHeaders)
	w.Header().Set("Access-Control-Max-Age", corsMaxAge)
	w.WriteHeader(preflightStatus)
}

// isAllowedOrigin reports whether a request comes from a page of an allowed origin.
func (a *api) isAllowedOrigin(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	return len(origins) == 1 && slices.Contains(a.Origins, origins[0])
}
