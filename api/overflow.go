package api

import "net/http"

// Overflow returns a handler for the requests on connections beyond the limits. It answers probes
// as api does, a handler of New, and rejects all other requests.
func Overflow(api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		api.ServeHTTP(w, r.WithContext(withArrival(r.Context(), func(a *arrival) { a.isOverflow = true })))
	})
}
