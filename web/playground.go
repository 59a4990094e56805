// Package web holds what browsers load from this server. Everything is in the binary: no page needs the internet.
package web

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"net/http"
	"path"
	"time"

	"github.com/wundergraph/graphql-go-tools/pkg/playground"
)

//go:embed playground.html
var playgroundPage []byte

//go:embed start.js
var playgroundStart []byte

// The Playground styles itself by style elements, so that inline styles are let in; nothing else is that is not a file
// or the API of this server.
const playgroundPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
	"font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Playground serves GraphQL Playground at /playground and its files below, and leaves everything else to notFound. It
// sends its queries to /graphql.
func Playground(notFound http.Handler) http.Handler {
	mux := http.NewServeMux()
	for _, file := range playgroundFiles() {
		mux.HandleFunc(file.Path, file.Handler)
	}
	mux.HandleFunc("/playground", page("playground.html", playgroundPage)) // in place of the page of the package
	mux.HandleFunc("/playground/start.js", page("start.js", playgroundStart))
	mux.Handle("/playground/{$}", http.RedirectHandler("/playground", http.StatusFound))
	mux.Handle("/", notFound)
	return withPolicy(mux)
}

// playgroundFiles gives the handlers of the script, the styles and the pictures that package playground embeds.
func playgroundFiles() playground.Handlers {
	handlers, err := playground.New(playground.Config{PlaygroundPath: "/playground"}).Handlers()
	if err != nil {
		panic("web: the Playground's embedded files: " + err.Error())
	}
	handlers = handlers[1:] // the first is the page
	for i, file := range handlers {
		var content body
		file.Handler(&content, nil)
		handlers[i].Handler = page(path.Base(file.Path), content.Bytes())
	}
	return handlers
}

// body keeps what a handler writes.
type body struct{ bytes.Buffer }

func (body) Header() http.Header { return http.Header{} }
func (body) WriteHeader(int)     {}

// page serves a file. A browser that has it asks whether it is still the same, by its hash.
func page(name string, content []byte) http.HandlerFunc {
	hash := sha256.Sum256(content)
	etag := `"` + hex.EncodeToString(hash[:16]) + `"`
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("ETag", etag)
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(content))
	}
}

func withPolicy(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", playgroundPolicy)
		w.Header().Set("Referrer-Policy", "no-referrer")
		next.ServeHTTP(w, r)
	})
}
