package loopback

import (
	"net/http"
	"net/url"
)

// Serves tells whether a server that listens on loopback should answer a request: one that is meant for this machine, and
// comes from no web page, or from one of this machine. Any page can make a browser send requests to loopback, and can give
// a name of its own loopback's address; the requests of its scripts then have a foreign Origin, or a foreign Host. The GETs
// of pictures and links have no Origin: what they do must do no harm, for all that this can tell.
func Serves(r *http.Request) bool { return Is(r.Host) && IsLocalPage(r) }

// IsLocalPage tells whether a request comes from no web page, or from one of this machine.
func IsLocalPage(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return true
	}
	origin, err := url.Parse(origins[0])
	return len(origins) == 1 && err == nil && Is(origin.Host)
}
