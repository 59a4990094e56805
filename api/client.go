package api

import (
	"io"
	"net/http"
	"net/netip"
	"sync"

	"cosmosblog/guard/proxy"
	"cosmosblog/guard/request"
)

// withAddress finds out the address of a request's client.
func (a *api) withAddress(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(request.With(r.Context(), func(q *request.Request) { q.Address = a.Proxies.Client(r) })))
	})
}

// limitClients limits the requests in progress of each client behind a trusted proxy, by the number
// of connections that a client without a proxy has. Otherwise one client that sends slowly could
// take all connections of the proxy.
func (a *api) limitClients(next http.Handler) http.Handler {
	rejected := a.rejectAll(errTooManyRequests)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		client := request.Of(r.Context()).Address
		if a.isUnlimited(client) || client == proxy.Peer(r) {
			next.ServeHTTP(w, r)
			return
		}
		body := &trackedBody{ReadCloser: r.Body}
		r.Body = body
		// After the handler, net/http waits for the rest of a body, and the request would hold its
		// connection without being counted.
		defer func() {
			if r.ContentLength != 0 && !body.ended {
				_ = http.NewResponseController(w).SetReadDeadline(past)
			}
		}()
		if !a.clients.Begin(client, a.Limits.AddressConnections) {
			rejected.ServeHTTP(w, r)
			return
		}
		end := sync.OnceFunc(func() { a.clients.End(client) })
		defer end()
		next.ServeHTTP(w, r.WithContext(withArrival(r.Context(), func(a *arrival) { a.endProgress = end })))
	})
}

// isUnlimited reports whether a client has no limits by its address: one that nobody knows, this
// machine, and a proxy that stands for many clients.
func (a *api) isUnlimited(client netip.Addr) bool {
	return a.Limits.AddressConnections == 0 || !client.IsValid() || client.IsLoopback() || a.Proxies.Contains(client)
}

// trackedBody is a request body that knows whether it was read to its end.
type trackedBody struct {
	io.ReadCloser
	ended bool
}

// Read implements io.Reader.
func (b *trackedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.ended = b.ended || err == io.EOF
	return n, err
}

// warnOfUnknownProxy logs that a request was forwarded by a proxy that is not trusted. Its clients
// have one address, and share one budget.
func (a *api) warnOfUnknownProxy(r *http.Request) {
	if len(r.Header["X-Forwarded-For"]) == 0 || !a.Books.Limit() {
		return
	}
	peer := proxy.Peer(r)
	if !peer.IsValid() || a.Proxies.Contains(peer) || !a.unknown.isNew(peer.String(), a.Now()) {
		return
	}
	a.Logger.WarnContext(r.Context(), "a request was forwarded by a proxy that is not trusted: all its clients share one budget; "+
		"if it is yours, name it with --trusted-proxy", "proxy", peer.String())
}
