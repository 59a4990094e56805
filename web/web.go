// Package web serves the blog in a browser and GraphiQL, from files in the binary. Their pages load
// nothing from other servers.
//
// The sources are in app and graphiql. `npm ci && npm run build` writes dist, which is committed.
// Building the program therefore needs no Node.js.
//
// This folder is not for other modules: it may change in any version.
package web

import (
	"embed"
	"net/http"
)

//go:embed all:dist
var dist embed.FS

// documents are the documents of the blog, as graphql-codegen writes them.
//
//go:embed app/src/gql/persisted-documents.json
var documents []byte

// Documents returns the manifest of the blog's documents. The blog sends their ids, so a server of
// its pages must know them.
func Documents() []byte { return documents }

// GraphiQL's policy (Content-Security-Policy). Its page may load this server's files and use its
// API, and nothing else. Its editor inserts style elements and attributes, draws with images in
// data URLs, and runs in workers.
const graphiqlPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
	"font-src 'self'; connect-src 'self'; worker-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Options configure the handlers of files. All are required.
type Options struct {
	// AcceptsGzip reports whether the client of a request accepts responses in gzip.
	AcceptsGzip func(*http.Request) bool
	// AcceptsHTML reports whether the client of a request is a browser that opens a page.
	AcceptsHTML func(*http.Request) bool
	// NotFound responds to requests for files that do not exist.
	NotFound http.Handler
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
