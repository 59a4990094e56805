package httpapi

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"cosmosblog/internal/blog"
)

// local refuses, in development, what does not come from this machine's own pages: any web page can make a browser send
// requests to loopback, and can give a name of its own loopback's address. Such a request has a foreign Origin or Host.
func (a *api) local(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isLoopback(r.Host) || !isLocalOrigin(r) {
			a.refuse(w, r, http.StatusForbidden, errNotLocal)
			return
		}
		next.ServeHTTP(w, r)
	})
}

var errNotLocal = blog.Errorf(blog.Forbidden, "In development only this machine is answered: use the address that the server printed.")

// isLocalOrigin tells whether the request comes from no page, or from a page of this machine.
func isLocalOrigin(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return true
	}
	origin, err := url.Parse(origins[0])
	return len(origins) == 1 && err == nil && isLoopback(origin.Host)
}

// isLoopback tells whether a host, with or without a port, is this machine's loopback, by address or by name (RFC 6761
// keeps localhost and what is below it for that).
func isLoopback(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if address, err := netip.ParseAddr(host); err == nil {
		return address.IsLoopback()
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}
