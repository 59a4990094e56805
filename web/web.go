// Package web serves the blog in a browser and GraphiQL, from files in the binary. Their pages load
// nothing from other servers.
//
// The sources are in app and graphiql. `npm ci && npm run build` writes dist, which is committed.
// Building the program therefore needs no Node.js.
package web

import (
	"embed"
	"net/http"
	"strings"
)

//go:embed all:dist
var dist embed.FS

// The Content-Security-Policies. Both pages may load this server's files and use its API, and
// nothing else. The blog also has no inline styles, and can create no script or HTML from text.
// GraphiQL's editor inserts style elements and attributes, draws with images in data URLs, and runs
// in workers.
const (
	appPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; " +
		"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
		"require-trusted-types-for 'script'; trusted-types 'none'"
	graphiqlPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
		"font-src 'self'; connect-src 'self'; worker-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

// Options configure the handlers of this package. Both are required.
type Options struct {
	// AcceptsGzip reports whether the client of a request accepts responses in gzip.
	AcceptsGzip func(*http.Request) bool
	// NotFound responds to requests for files that do not exist.
	NotFound http.Handler
}

// App returns the handler of the blog, for all paths that nothing else handles. Navigation to a
// path without a file gets the page, whose program shows that path. All other requests for a
// missing file go to options.NotFound. It handles GET and HEAD only.
func App(options Options) http.Handler {
	files := newSite(options, "app", "/", appPolicy)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The same path is a page for a browser, and an error for another client.
		if r.URL.Path != "/" && files.find(r.URL.Path) == nil && !strings.HasPrefix(r.URL.Path, "/assets/") {
			w.Header().Set("Vary", "Accept")
			if strings.Contains(r.Header.Get("Accept"), "text/html") {
				files.serve(w, r, files.find("/"))
				return
			}
		}
		files.ServeHTTP(w, r)
	})
}

// GraphiQL returns the handler of GraphiQL at /playground, and of its files below. Requests for a
// missing file go to options.NotFound. It handles GET and HEAD only.
func GraphiQL(options Options) http.Handler {
	files := newSite(options, "graphiql", "/playground/", graphiqlPolicy)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/playground":
			files.serve(w, r, files.find("/playground/"))
		case "/playground/":
			http.Redirect(w, r, "/playground", http.StatusFound)
		default:
			files.ServeHTTP(w, r)
		}
	})
}
