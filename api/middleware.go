package api

import (
	"net/http"
	"path"
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

// cleanPathsOnly responds with 404 to paths that are not in their shortest form. The mux would
// redirect them.
func (a *api) cleanPathsOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isGraphQL(r) { // as nearly all requests: Clean would copy the path
			next.ServeHTTP(w, r)
			return
		}
		if shortest := path.Clean("/" + r.URL.Path); r.URL.Path != shortest && r.URL.Path != shortest+"/" {
			a.notFound(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// recoverPanics responds to panics outside of resolvers with an INTERNAL error.
func (a *api) recoverPanics(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer a.recoverPanic(w, r)
		next.ServeHTTP(w, r)
	})
}

// recoverPanic responds to a panic. It must be deferred.
func (a *api) recoverPanic(w http.ResponseWriter, r *http.Request) {
	if recovered := recover(); recovered != nil && recovered != http.ErrAbortHandler {
		a.reject(w, r, serverFailure(a.Errors.Recover(r.Context(), recovered)))
	}
}
