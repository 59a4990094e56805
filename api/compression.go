package api

import (
	"bytes"
	"net/http"
	"runtime"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

const (
	// minCompressedBytes is the size of the smallest answer that is compressed. Smaller ones fit
	// into one packet anyway.
	minCompressedBytes = 1024

	// gzipLevel, zstdLevel and zstdWindow cost little time and memory; docs/benchmarks.md compares
	// the levels.
	gzipLevel  = 5
	zstdLevel  = zstd.SpeedFastest
	zstdWindow = 128 << 10
)

// The names of content codings.
const (
	codingGzip = "gzip"
	codingZstd = "zstd"
)

// compressor compresses answers in memory, one for each processor at a time. It may be used
// concurrently.
type compressor struct {
	gzip chan *gzip.Writer // one for each processor; nil until it is first used
	zstd *zstd.Encoder
}

func newCompressor() *compressor {
	processors := runtime.GOMAXPROCS(0)
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstdLevel), zstd.WithEncoderConcurrency(processors),
		zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(zstdWindow))
	if err != nil {
		panic("api: " + err.Error()) // an option above is invalid
	}
	c := &compressor{gzip: make(chan *gzip.Writer, processors), zstd: encoder}
	for range processors {
		c.gzip <- nil
	}
	return c
}

// compress returns an answer in a content coding, or unchanged if the coding is empty.
func (c *compressor) compress(a answer, coding string) answer {
	if coding != "" {
		a.body, a.coding = c.encode(coding, a.body), coding
	}
	return a
}

// encode returns a text in a content coding.
func (c *compressor) encode(coding string, text []byte) []byte {
	if coding == codingZstd {
		return c.zstd.EncodeAll(text, newBody(len(text)/3))
	}
	writer := <-c.gzip
	defer func() { c.gzip <- writer }()
	encoded := bytes.NewBuffer(newBody(len(text) / 3))
	if writer == nil {
		writer, _ = gzip.NewWriterLevel(encoded, gzipLevel) // fails for an invalid level only
	}
	writer.Reset(encoded)
	_, _ = writer.Write(text) // a buffer never fails
	_ = writer.Close()
	writer.Reset(nil)
	return encoded.Bytes()
}

// negotiateCoding returns the content coding of the response to a request (RFC 9110, section
// 12.5.3): zstd, gzip, or none if the body is small or the client accepts neither by name. If both
// have the same weight, the one listed first wins: some clients add codings at the end of a list
// without being able to decode them.
func negotiateCoding(r *http.Request, body []byte) string {
	if len(body) < minCompressedBytes {
		return ""
	}
	accepted := r.Header.Values("Accept-Encoding")
	gzip, zstd := codingPreference(accepted, codingGzip), codingPreference(accepted, codingZstd)
	switch {
	case zstd.quality > gzip.quality, zstd.quality > 0 && zstd.quality == gzip.quality && zstd.index < gzip.index:
		return codingZstd
	case gzip.quality > 0:
		return codingGzip
	}
	return ""
}

// acceptsGzip reports whether the client of a request accepts gzip by name.
func acceptsGzip(r *http.Request) bool {
	return codingPreference(r.Header.Values("Accept-Encoding"), codingGzip).quality > 0
}

// codingPreference returns the preference for a content coding in the values of Accept-Encoding.
// If the coding is listed more than once, the first time counts.
func codingPreference(values []string, coding string) preference {
	index := 0
	for part := range strings.SplitSeq(strings.Join(values, ","), ",") {
		name, parameter, hasParameter := strings.Cut(part, ";")
		if strings.EqualFold(strings.TrimSpace(name), coding) {
			return preference{codingWeight(parameter, hasParameter), index}
		}
		index++
	}
	return preference{}
}

// codingWeight returns the weight that the parameter of a coding has; 0 if it is malformed.
func codingWeight(parameter string, isSet bool) float64 {
	if !isSet {
		return 1
	}
	key, value, _ := strings.Cut(strings.TrimSpace(parameter), "=")
	weight, err := strconv.ParseFloat(value, 64)
	if err != nil || !strings.EqualFold(key, "q") || !(weight > 0) {
		return 0 // also for NaN, which ParseFloat accepts
	}
	return weight
}
