package api

import (
	"net/http"

	"cosmosblog/guard/request"
)

// Overflow returns a handler for the requests on connections beyond the limits. It answers probes
// as api does, a handler of New, and rejects all other requests.
func Overflow(api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		api.ServeHTTP(w, r.WithContext(request.With(r.Context(), func(q *request.Request) { q.IsOverflow = true })))
	})
}

// probesOnOverflow rejects requests that arrived through Overflow, except for probes. Pages of
// allowed origins can read the rejection.
func (a *api) probesOnOverflow(next http.Handler) http.Handler {
	rejected := a.rejectAll(errTooManyConnections)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		isProbe := r.URL.Path == healthPath || r.URL.Path == readyPath
		if !request.Of(r.Context()).IsOverflow || isProbe {
			next.ServeHTTP(w, r)
			return
		}
		rejected.ServeHTTP(w, r)
	})
}
