package httpapi

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"time"

	"cosmosblog/graph"
)

const schemaPath = "/schema.graphql"

// schemaFile returns a handler that serves the schema in SDL. SDL has no media type of its own:
// as plain text, browsers show it. The ETag is weak, because it is the same for all encodings.
func schemaFile() http.Handler {
	text := graph.SDL()
	hash := sha256.Sum256([]byte(text))
	etag := `W/"` + hex.EncodeToString(hash[:16]) + `"`
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("ETag", etag)
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(text))
	})
}
