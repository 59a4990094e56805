package httpapi

import "net/http"

// withSecurityHeaders sets headers that stop browsers from using a response as anything other
// than data. Browsers must not guess its type, execute it, frame it, cache it, embed it in pages of
// other sites, or send its address as a referrer. The Playground sets its own policy. The proxy
// that terminates TLS sets Strict-Transport-Security, because this server does not speak TLS.
func withSecurityHeaders(next http.Handler) http.Handler {
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
