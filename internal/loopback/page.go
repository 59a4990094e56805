package loopback

import (
	"net/http"
	"net/url"
)

// Serves reports whether a server on loopback may answer a request. The Host must be loopback,
// and the request must not come from a web page of another site.
//
// Any web page can make a browser send requests to loopback, and can resolve its own host name
// to a loopback address. The requests of its scripts then have a foreign Origin or a foreign
// Host. The GET requests of images and links have no Origin. Serves cannot detect them, so they
// must have no side effects.
func Serves(r *http.Request) bool { return Is(r.Host) && IsLocalPage(r) }

// IsLocalPage reports whether a request has no Origin, or one on loopback.
func IsLocalPage(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return true
	}
	origin, err := url.Parse(origins[0])
	return len(origins) == 1 && err == nil && Is(origin.Host)
}
