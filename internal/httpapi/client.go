package httpapi

import (
	"context"
	"net/http"
	"net/netip"
	"strings"
)

type clientKey struct{}

// ClientAddr gives the address of who sent a request, from the request's context: behind trusted proxies, whom they speak
// for. It is invalid where the connection has none.
func ClientAddr(ctx context.Context) netip.Addr {
	address, _ := ctx.Value(clientKey{}).(netip.Addr)
	return address
}

// located puts the client's address into a request's context.
func (a *api) located(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), clientKey{}, a.clientOf(r))))
	})
}

// clientOf looks for the client from the server outwards: who is connected, and as long as that is a trusted proxy, whom
// it says it was connected with. What stands left of that in X-Forwarded-For, the client wrote itself.
func (a *api) clientOf(r *http.Request) netip.Addr {
	client := peerOf(r)
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && a.isTrusted(client); i-- {
		hop, ok := parseHop(hops[i])
		if !ok {
			break
		}
		client = hop
	}
	return client
}

// peerOf gives the address of who is connected.
func peerOf(r *http.Request) netip.Addr {
	peer, _ := netip.ParseAddrPort(r.RemoteAddr)
	return peer.Addr().Unmap().WithZone("")
}

// parseHop reads an address as proxies write it: some add the port.
func parseHop(text string) (netip.Addr, bool) {
	text = strings.TrimSpace(text)
	address, err := netip.ParseAddr(strings.Trim(text, "[]"))
	if err != nil {
		withPort, err := netip.ParseAddrPort(text)
		return withPort.Addr().Unmap().WithZone(""), err == nil
	}
	return address.Unmap().WithZone(""), true
}

func (a *api) isTrusted(address netip.Addr) bool {
	for _, network := range a.Proxies {
		if network.Contains(address) {
			return true
		}
	}
	return false
}

// hostOf gives the host that a request was sent to: behind a trusted proxy that says so, the proxy's.
func (a *api) hostOf(r *http.Request) string {
	if hosts := r.Header.Values("X-Forwarded-Host"); len(hosts) == 1 && a.isTrusted(peerOf(r)) {
		return hosts[0]
	}
	return r.Host
}
