package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"time"

	"cosmosblog/graph"
)

const schemaPath = "/schema.graphql"

// schemaFile returns a handler that serves the schema in SDL. SDL has no media type of its own:
// as plain text, browsers show it. The ETag is weak, because it is the same for all encodings.
func (a *api) schemaFile() http.Handler {
	text := []byte(graph.SDL())
	hash := sha256.Sum256(text)
	etag := `W/"` + hex.EncodeToString(hash[:16]) + `"`
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("ETag", etag)
		w.Header().Set("Vary", "Accept-Encoding")
		served := a.compressor.compress(answer{body: text}, negotiateCoding(r, text))
		if served.coding != "" {
			w.Header().Set("Content-Encoding", served.coding)
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(served.body))
	})
}
