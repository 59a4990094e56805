package httpapi

import (
	"context"
	"net/http"
	"net/netip"
	"strings"
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
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), clientKey{}, a.findClientAddr(r))))
	})
}

// findClientAddr follows X-Forwarded-For from the connection's peer outwards, as long as the
// current address is a trusted proxy. The entries to the left of the result were written by the
// client itself.
func (a *api) findClientAddr(r *http.Request) netip.Addr {
	client := peerAddr(r)
	if len(a.Proxies) == 0 {
		return client
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && a.isTrustedProxy(client); i-- {
		hop, ok := parseHop(hops[i])
		if !ok {
			break
		}
		client = hop
	}
	return client
}

// peerAddr returns the address of the connection's other end.
func peerAddr(r *http.Request) netip.Addr {
	peer, _ := netip.ParseAddrPort(r.RemoteAddr)
	return peer.Addr().Unmap().WithZone("")
}

// parseHop parses an entry of X-Forwarded-For. Some proxies add the port, or brackets.
func parseHop(text string) (netip.Addr, bool) {
	text = strings.TrimSpace(text)
	address, err := netip.ParseAddr(strings.Trim(text, "[]"))
	if err != nil {
		withPort, err := netip.ParseAddrPort(text)
		return withPort.Addr().Unmap().WithZone(""), err == nil
	}
	return address.Unmap().WithZone(""), true
}

func (a *api) isTrustedProxy(address netip.Addr) bool {
	for _, network := range a.Proxies {
		if network.Contains(address) {
			return true
		}
	}
	return false
}

// hostOf returns the host that the client sent the request to. If a trusted proxy sets
// X-Forwarded-Host, it is that host.
func (a *api) hostOf(r *http.Request) string {
	if hosts := r.Header.Values("X-Forwarded-Host"); len(hosts) == 1 && a.isTrustedProxy(peerAddr(r)) {
		return hosts[0]
	}
	return r.Host
}
