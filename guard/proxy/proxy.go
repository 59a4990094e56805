// Package proxy finds out who has sent a request that proxies may have forwarded. Only trusted
// proxies are believed. Without them, their headers can be written by anyone.
package proxy

import (
	"net/http"
	"net/netip"
	"strings"

	"cosmosblog/internal/loopback"
)

// Trusted are the networks of the trusted proxies. It may be used concurrently.
type Trusted []netip.Prefix

// Contains reports whether an address is that of a trusted proxy.
func (t Trusted) Contains(address netip.Addr) bool {
	for _, network := range t {
		if network.Contains(address) {
			return true
		}
	}
	return false
}

// Client returns the address of the client of a request. It follows X-Forwarded-For from the
// connection's peer outwards, as long as the current address is a trusted proxy. The entries to
// the left of the result were written by the client itself.
func (t Trusted) Client(r *http.Request) netip.Addr {
	client := Peer(r)
	if len(t) == 0 {
		return client
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && t.Contains(client); i-- {
		hop, ok := parseHop(hops[i])
		if !ok {
			break
		}
		client = hop
	}
	return client
}

// Peer returns the address of the connection's other end.
func Peer(r *http.Request) netip.Addr {
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

// Host returns the host that the client sent the request to. If a trusted proxy sets
// X-Forwarded-Host, it is that host.
func (t Trusted) Host(r *http.Request) string {
	if hosts := r.Header.Values("X-Forwarded-Host"); len(hosts) == 1 && t.Contains(Peer(r)) {
		return hosts[0]
	}
	return r.Host
}

// proxyHeaders are headers that only proxies, and networks in front of servers, add to requests.
// Most of them report the client's address.
var proxyHeaders = map[string]bool{
	"Ali-Cdn-Real-Ip":           true,
	"Cf-Connecting-Ip":          true,
	"Cf-Connecting-Ipv6":        true,
	"Cf-Pseudo-Ipv4":            true,
	"Client-Ip":                 true,
	"Do-Connecting-Ip":          true,
	"Fastly-Client-Ip":          true,
	"Fly-Client-Ip":             true,
	"Forwarded-For":             true,
	"Proxy-Client-Ip":           true,
	"True-Client-Ip":            true,
	"Wl-Proxy-Client-Ip":        true,
	"X-Appengine-User-Ip":       true,
	"X-Azure-Clientip":          true,
	"X-Azure-Socketip":          true,
	"X-Client-Ip":               true,
	"X-Cluster-Client-Ip":       true,
	"X-Envoy-External-Address":  true,
	"X-Forwarded":               true,
	"X-Ms-Forwarded-Client-Ip":  true,
	"X-Nf-Client-Connection-Ip": true,
	"X-Original-For":            true,
	"X-Original-Forwarded-For":  true,
	"X-Proxyuser-Ip":            true,
	"X-Real-Ip":                 true,
	"X-Remote-Addr":             true,
	"X-Remote-Ip":               true,
	"X-Vercel-Forwarded-For":    true,
	"X-Amz-Cf-Id":               true,
	"X-Arr-Log-Id":              true,
	"X-Azure-Fdid":              true,
	"Cdn-Loop":                  true,
	"Cf-Ray":                    true,
}

// IsForwarded reports whether a proxy has forwarded a request, according to its headers. A proxy on
// this machine can make a request of any machine look local: its address is loopback, and many
// proxies replace the Host. A proxy that adds none of these headers cannot be recognized.
func IsForwarded(header http.Header) bool {
	for name := range header {
		if name == "Forwarded" || name == "Via" || strings.HasPrefix(name, "X-Forwarded-") || proxyHeaders[name] {
			return true
		}
	}
	return false
}

// ForwardedLocally reports whether a trusted proxy, such as the development server of a web
// application, has forwarded a request of this machine. Whatever the headers report must be of this
// machine. An address that cannot be read may be of another.
func (t Trusted) ForwardedLocally(r *http.Request) bool {
	if !t.Contains(Peer(r)) || r.Header.Get("X-Forwarded-For") == "" {
		return false
	}
	for name, values := range r.Header {
		switch name {
		case "Via", "X-Forwarded-Proto", "X-Forwarded-Protocol", "X-Forwarded-Scheme", "X-Forwarded-Ssl", "X-Forwarded-Port",
			"X-Forwarded-Server", "X-Forwarded-Prefix", "X-Forwarded-Uri", "X-Forwarded-Path", "X-Forwarded-Method":
			continue // of the proxy, not of the client
		case "X-Forwarded-Host":
			if len(values) != 1 || !loopback.Is(values[0]) {
				return false
			}
		case "Forwarded":
			if !areLoopback(forwardedFor(values)) {
				return false
			}
		default:
			if (strings.HasPrefix(name, "X-Forwarded-") || proxyHeaders[name]) && !areLoopback(listed(values)) {
				return false
			}
		}
	}
	return true
}

// listed returns the elements of a header that is a list.
func listed(values []string) []string { return strings.Split(strings.Join(values, ","), ",") }

// forwardedFor returns the clients that the header Forwarded reports (RFC 7239, section 4). The
// client of an element that reports none is empty.
func forwardedFor(values []string) (clients []string) {
	for _, element := range listed(values) {
		client := ""
		for parameter := range strings.SplitSeq(element, ";") {
			name, value, _ := strings.Cut(strings.TrimSpace(parameter), "=")
			if strings.EqualFold(name, "for") {
				client = strings.Trim(value, `"`)
			}
		}
		clients = append(clients, client)
	}
	return clients
}

// areLoopback reports whether all hops are addresses of this machine.
func areLoopback(hops []string) bool {
	for _, hop := range hops {
		if address, ok := parseHop(hop); !ok || !address.IsLoopback() {
			return false
		}
	}
	return true
}
