package httpapi

import (
	"net/http"
	"strings"

	"cosmosblog/internal/loopback"
)

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

// isForwarded reports whether a proxy has forwarded a request, according to its headers. A proxy on
// this machine can make a request of any machine look local: its address is loopback, and many
// proxies replace the Host. A proxy that adds none of these headers cannot be recognized.
func isForwarded(header http.Header) bool {
	for name := range header {
		if name == "Forwarded" || name == "Via" || strings.HasPrefix(name, "X-Forwarded-") || proxyHeaders[name] {
			return true
		}
	}
	return false
}

// isForwardedLocally reports whether a trusted proxy, such as the development server of a web
// application, has forwarded a request of this machine. Whatever the headers report must be of this
// machine. An address that cannot be read may be of another.
func (a *api) isForwardedLocally(r *http.Request) bool {
	if !a.isTrustedProxy(peerAddr(r)) || r.Header.Get("X-Forwarded-For") == "" {
		return false
	}
	for name, values := range r.Header {
		switch name {
		case "Via", "X-Forwarded-Proto", "X-Forwarded-Port", "X-Forwarded-Server", "X-Forwarded-Prefix":
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

// forwardedFor returns the clients that the header Forwarded reports (RFC 7239, section 4).
func forwardedFor(values []string) (clients []string) {
	for _, element := range listed(values) {
		for parameter := range strings.SplitSeq(element, ";") {
			name, value, _ := strings.Cut(strings.TrimSpace(parameter), "=")
			if strings.EqualFold(name, "for") {
				clients = append(clients, strings.Trim(value, `"`))
			}
		}
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
