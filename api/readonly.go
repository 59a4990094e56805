package api

import (
	"net/http"
	"strings"
)

// readOnly rejects methods other than GET and HEAD.
func (a *api) readOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			a.reject(w, r, errReadOnly)
			return
		}
		if strings.Contains(r.Header.Get("Range"), ",") {
			// A server may ignore ranges (RFC 9110, section 14.2). The answer to several can be
			// many times larger than the file, and nobody needs more than one of files this small.
			r.Header.Del("Range")
		}
		next.ServeHTTP(w, r)
	})
}
