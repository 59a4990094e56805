package api

import "net/http"

// Overflow returns a handler for the requests on connections beyond the limits. It answers probes
// as api does, a handler of New, and rejects all other requests.
func Overflow(api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		api.ServeHTTP(w, r.WithContext(withArrival(r.Context(), func(a *arrival) { a.isOverflow = true })))
	})
}

// probesOnOverflow rejects requests that arrived through Overflow, except for probes. Pages of
// allowed origins can read the rejection.
func (a *api) probesOnOverflow(next http.Handler) http.Handler {
	rejected := a.rejectAll(errTooManyConnections)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		isProbe := r.URL.Path == healthPath || r.URL.Path == readyPath
		if !arrivalOf(r.Context()).isOverflow || isProbe {
			next.ServeHTTP(w, r)
			return
		}
		rejected.ServeHTTP(w, r)
	})
}
