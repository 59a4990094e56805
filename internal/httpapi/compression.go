package httpapi

import (
	"net/http"

	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/zstd"
)

const (
	// minCompressedBytes is the size of the smallest response that is compressed. Smaller ones fit
	// into one packet anyway.
	minCompressedBytes = 1024

	// gzipLevel and zstdLevel cost little time; docs/benchmarks.md compares the levels.
	gzipLevel = 5
	zstdLevel = zstd.SpeedFastest
)

// compressed compresses the responses of next with zstd or gzip if the client accepts it.
// Compressors are pooled and compress while they send, so a response takes the memory of one
// compressor in addition to its own.
func compressed(next http.Handler) http.Handler { return compression(next) }

var compression = func() func(http.Handler) http.HandlerFunc {
	wrap, err := gzhttp.NewWrapper(
		gzhttp.MinSize(minCompressedBytes),
		gzhttp.CompressionLevel(gzipLevel),
		gzhttp.ZstdCompressionLevel(int(zstdLevel)),
		gzhttp.ContentTypes([]string{"application/json", "application/graphql-response+json", "text/plain"}),
	)
	if err != nil {
		panic("httpapi: " + err.Error()) // an option above is invalid
	}
	return wrap
}()
