package httpapi

import (
	"net/http"
	"net/netip"
	"sync"

	"cosmosblog/internal/limits"
	"cosmosblog/internal/proxy"
)

// inProgress counts the requests in progress of clients behind trusted proxies. It holds no more
// networks than there are such requests. It may be used concurrently.
type inProgress struct {
	mu sync.Mutex
	of map[netip.Prefix]int
}

// begin counts a request, unless its network has as many as allowed.
func (p *inProgress) begin(network netip.Prefix, allowed int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of[network] >= allowed {
		return false
	}
	p.of[network]++
	return true
}

func (p *inProgress) end(network netip.Prefix) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of[network]--; p.of[network] == 0 {
		delete(p.of, network)
	}
}

// limitClients limits the requests in progress of each client behind a trusted proxy, by the number
// of connections that a client without a proxy has. Otherwise one client that sends slowly could
// take all connections of the proxy.
func (a *api) limitClients(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		client := ClientAddr(r.Context())
		if a.Limits.AddressConnections == 0 || !client.IsValid() || client == proxy.Peer(r) || client.IsLoopback() || a.Proxies.Contains(client) {
			next.ServeHTTP(w, r)
			return
		}
		network := limits.NetworkOf(client)
		if !a.clients.begin(network, a.Limits.AddressConnections) {
			if r.ContentLength != 0 { // the server would wait for the body before it ends the request
				_ = http.NewResponseController(w).SetReadDeadline(past)
			}
			a.reject(w, r, errTooManyRequests)
			return
		}
		defer a.clients.end(network)
		next.ServeHTTP(w, r)
	})
}
