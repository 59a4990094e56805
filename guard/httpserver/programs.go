package httpserver

import (
	"io"
	"net"
	"net/http"

	"cosmosblog/internal/loopback"
)

// ProgramsOnly returns a handler that rejects web pages with 403. It protects the engine, whose
// key may be well known, and the operator's routes. Errors have the form of Cosmos DB's.
//
// On a loopback address it also rejects requests under another host name, because a page's own
// name can resolve to loopback (DNS rebinding). On a network, the operator chooses the names, so
// any name is accepted. Browsers load images and scripts without an Origin header; the
// response's headers keep pages from reading those.
func ProgramsOnly(addr net.Addr, next http.Handler) http.Handler {
	isAllowed := loopback.IsLocalPage
	if loopback.Is(addr.String()) {
		isAllowed = loopback.Serves
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cross-Origin-Resource-Policy", "same-origin")
		if isAllowed(r) {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		io.WriteString(w, pageRejection)
	})
}

const pageRejection = `{"code":"Forbidden","message":` +
	`"Web pages are rejected. On loopback, requests must use the printed address."}`
