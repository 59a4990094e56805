package httpapi

import (
	"context"
	"net/http"
	"net/netip"
)

type clientKey struct{}

// ClientAddr returns the address of the client from the context of its request. Behind trusted
// proxies, it is the address that they report. It is invalid if the connection has none, as on a
// Unix socket.
func ClientAddr(ctx context.Context) netip.Addr {
	address, _ := ctx.Value(clientKey{}).(netip.Addr)
	return address
}

// withClientAddr puts the client's address into a request's context.
func (a *api) withClientAddr(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), clientKey{}, a.Proxies.Client(r))))
	})
}
