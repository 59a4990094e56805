package command

import (
	"io"
	"net"
	"net/http"

	"cosmosblog/internal/loopback"
)

// withoutPages keeps web pages from what is for programs: the engine, whose key everybody may know, and what an operator
// reads. On loopback, requests under another name are refused too, because a page's own name can come to be loopback's
// address; on a network, names are the operator's. What pages load without asking, pictures and scripts, browsers keep from
// them by the headers. The refusal is in the form of Cosmos DB's errors.
func withoutPages(addr net.Addr, next http.Handler) http.Handler {
	answers := loopback.IsLocalPage
	if loopback.Is(addr.String()) {
		answers = loopback.Serves
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cross-Origin-Resource-Policy", "same-origin")
		if answers(r) {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		io.WriteString(w, pageRefusal)
	})
}

const pageRefusal = `{"code":"Forbidden","message":"Web pages are not answered, and on loopback no request under another name: use the address that was printed."}`
