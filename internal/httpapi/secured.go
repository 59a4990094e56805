package httpapi

import "net/http"

// secured sets what keeps browsers from doing more with an answer than showing its text: take it for another type, run or
// frame it, keep it, load it into a page of another site, or tell others its address. The Playground has a policy of its
// own. Strict-Transport-Security is set by whoever speaks TLS, which this server does not.
func secured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
		header.Set("X-Frame-Options", "DENY")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		header.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}
