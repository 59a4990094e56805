package api

import (
	"net/http"
	"net/netip"

	"cosmosblog/guard/proxy"
)

// isUnlimited reports whether a client has no limits by its address: one that nobody knows, this
// machine, and a proxy that stands for many clients.
func (a *api) isUnlimited(client netip.Addr) bool {
	return a.Limits.AddressConnections == 0 || !client.IsValid() || client.IsLoopback() || a.Proxies.Contains(client)
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
