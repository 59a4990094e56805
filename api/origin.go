package api

import (
	"net/http"
	"net/url"
	"strings"

	"cosmosblog/guard/proxy"
	"cosmosblog/internal/loopback"
)

// checkLocal rejects a request that is not addressed to this machine, or that comes from a web page
// of an origin that is neither local nor allowed. It is used in development only. GETs that such
// a page sends through an image or a link still pass; isCrossSite rejects them.
func (a *api) checkLocal(r *http.Request) *rejection {
	switch {
	case !loopback.Is(r.Host):
		return errNotLocal
	case !loopback.IsLocalPage(r) && !a.isAllowedOrigin(r):
		a.logRefusedOrigin(r)
		return errOriginNotAllowed
	case proxy.IsForwarded(r.Header) && !a.Proxies.ForwardedLocally(r):
		return errForwarded
	}
	return nil
}

// preflightHeaders are headers that a page of another site can send only after a preflight that
// allowed them (see cors), so a GET with one does not come from an image or link. GETs of
// allowed origins need none of them. Some GraphQL clients send one with every GET.
var preflightHeaders = []string{"Apollo-Require-Preflight", "GraphQL-Require-Preflight", "X-Apollo-Operation-Name"}

// isCrossSite reports whether a GET comes from a page of another site that is not allowed, for
// example from an image, a script or a link. Such a page cannot read the response, but the query
// would run. POSTs need no such check, because their Content-Type forces a preflight.
func (a *api) isCrossSite(r *http.Request) bool {
	for _, name := range preflightHeaders {
		if r.Header.Get(name) != "" {
			return false
		}
	}
	if a.isAllowedOrigin(r) {
		return false
	}
	return r.Header.Get("Sec-Fetch-Site") == "cross-site" || !isSameOrigin(r.Header, a.Proxies.Host(r))
}

// isSameOrigin reports whether a request has no Origin, or only that of a host.
func isSameOrigin(header http.Header, host string) bool {
	for _, text := range header.Values("Origin") {
		if origin, err := url.Parse(text); err != nil || !strings.EqualFold(origin.Host, host) {
			return false
		}
	}
	return true
}

// origin returns the origin at which a client reaches the server.
func (a *api) origin(r *http.Request) string {
	if a.PagesOrigin != "" {
		return a.PagesOrigin
	}
	return "http://" + r.Host // in development
}
