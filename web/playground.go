// Package web serves GraphQL Playground from files in the binary. Its page loads nothing from other
// servers.
package web

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"net/http"
	"path"
	"sync"
	"time"

	"github.com/wundergraph/graphql-go-tools/pkg/playground"
)

//go:embed playground.html
var playgroundPage []byte

//go:embed start.js
var playgroundStart []byte

// playgroundPolicy is the Content-Security-Policy of the Playground. It allows this server's
// files and API, and inline styles, because the Playground inserts style elements.
const playgroundPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
	"font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Playground returns a handler that serves GraphQL Playground at /playground, and its files
// below. It passes all other paths to notFound. The Playground sends its queries to /graphql.
func Playground(notFound http.Handler) http.Handler {
	mux := http.NewServeMux()
	for _, embedded := range playgroundFiles() {
		mux.HandleFunc(embedded.Path, embedded.Handler)
	}
	mux.HandleFunc("/playground", file("playground.html", playgroundPage)) // replaces the package's page
	mux.HandleFunc("/playground/start.js", file("start.js", playgroundStart))
	mux.Handle("/playground/{$}", http.RedirectHandler("/playground", http.StatusFound))
	mux.Handle("/", notFound)
	return withPolicy(mux)
}

// playgroundFiles returns handlers for the scripts, styles and images that package playground
// embeds. It hashes them once per process.
var playgroundFiles = sync.OnceValue(func() playground.Handlers {
	handlers, err := playground.New(playground.Config{PlaygroundPath: "/playground"}).Handlers()
	if err != nil {
		panic("web: the Playground's embedded files: " + err.Error())
	}
	handlers = handlers[1:] // the first is the page
	for i, embedded := range handlers {
		var content body
		embedded.Handler(&content, nil)
		handlers[i].Handler = file(path.Base(embedded.Path), content.Bytes())
	}
	return handlers
})

// body is a ResponseWriter that collects what a handler writes.
type body struct{ bytes.Buffer }

func (body) Header() http.Header { return http.Header{} }
func (body) WriteHeader(int)     {}

// file returns a handler that serves a file. Browsers revalidate their copy with its hash, the
// ETag.
func file(name string, content []byte) http.HandlerFunc {
	hash := sha256.Sum256(content)
	etag := `"` + hex.EncodeToString(hash[:16]) + `"`
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("ETag", etag)
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(content))
	}
}

// withPolicy sets the Playground's security headers on every response of next.
func withPolicy(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", playgroundPolicy)
		w.Header().Set("Referrer-Policy", "no-referrer")
		next.ServeHTTP(w, r)
	})
}
