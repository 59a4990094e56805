package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"cosmosblog/api"
	"cosmosblog/blog"
	"cosmosblog/store/seed"
)

// decompress returns the content of a response body.
func decompress(t testing.TB, encoding string, body []byte) string {
	t.Helper()
	var reader io.Reader = bytes.NewReader(body)
	var err error
	switch encoding {
	case "gzip":
		reader, err = gzip.NewReader(reader)
	case "zstd":
		reader, err = zstd.NewReader(reader, zstd.WithDecoderConcurrency(1))
	}
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestCompression checks GET and POST with every kind of Accept-Encoding.
func TestCompression(t *testing.T) {
	long := strings.Repeat("long ", 400)
	s := newServer(t, func(_ *api.Options, q *stubQuery) {
		q.viewer = func(context.Context) (*blog.User, error) { return &blog.User{ID: "u_a", Username: long}, nil }
	})
	const query = "{viewer{username}}"
	want := `{"data":{"viewer":{"username":"` + long + `"}}}`
	post, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ accept, encoding string }{
		{"", ""}, {"identity", ""}, {"br", ""}, {"gzip;q=0", ""}, {"gzip", "gzip"}, {"GZIP", "gzip"}, {"zstd", "zstd"},
		{"gzip, deflate, br", "gzip"}, {"gzip, deflate, br, zstd", "gzip"}, {"zstd, gzip", "zstd"}, {"br, zstd;q=0.5, gzip;q=0.5", "zstd"},
		{"gzip;q=1, zstd;q=0.5", "gzip"}, {"gzip;q=0.5, zstd", "zstd"}, {"zstd;q=0, gzip", "gzip"}, {"gzip;q=0, zstd", "zstd"},
		{"zstd;q=0, gzip;q=0", ""}, {"*, gzip", "gzip"}, {"*;q=0, zstd", "zstd"}, {"*;q=0", ""}, {"zstd;q=0, *", ""}, {"gzip;q=0, gzip", ""},
		{"zstd, gzip;q=NaN", "zstd"},
		{"gzip ; q=0.2 , zstd; q=0.1", "gzip"}, {"zstd;q=x, gzip;q=0.1", "gzip"}, {"gzip;", ""}, {"xgzip, zstdx", ""}, {"*", ""}, {"gzip;q=-1", ""},
	} {
		for _, method := range []string{"GET", "POST"} {
			request := httptest.NewRequest(method, "/graphql?query="+url.QueryEscape(query), nil)
			if method == "POST" {
				request = httptest.NewRequest(method, "/graphql", bytes.NewReader(post))
				request.Header.Set("Content-Type", "application/json")
			}
			if c.accept != "" {
				request.Header.Set("Accept-Encoding", c.accept)
			}
			recorder := httptest.NewRecorder()
			s.handler.ServeHTTP(recorder, request)
			header := recorder.Header()
			got := header.Get("Content-Encoding")
			if recorder.Code != 200 || got != c.encoding || decompress(t, got, recorder.Body.Bytes()) != want {
				t.Errorf("%s, Accept-Encoding %q: status %d, Content-Encoding %q, %d bytes", method, c.accept, recorder.Code, got, recorder.Body.Len())
			}
			if length := header.Get("Content-Length"); length != strconv.Itoa(recorder.Body.Len()) || got != "" && recorder.Body.Len() > 200 {
				t.Errorf("%s, Accept-Encoding %q: Content-Length %q, %d bytes", method, c.accept, length, recorder.Body.Len())
			}
			if got := header.Values("Vary"); !slices.Equal(got, []string{vary}) {
				t.Errorf("%s, Accept-Encoding %q: Vary %q", method, c.accept, got)
			}
		}
	}
}

// TestSmallResponsesAreNotCompressed covers data and errors.
func TestSmallResponsesAreNotCompressed(t *testing.T) {
	s := newServer(t, nil)
	for _, r := range []reply{
		s.query("{__typename}", "Accept-Encoding", "gzip, zstd"),
		s.query("{", "Accept-Encoding", "gzip, zstd"),
		s.post("{", "Accept-Encoding", "gzip, zstd"),
	} {
		if r.Header().Get("Content-Encoding") != "" || r.Header().Get("Content-Length") == "" || !slices.Equal(r.Header().Values("Vary"), []string{vary}) {
			t.Errorf("status %d, %v", r.Code, r.Header())
		}
	}
}

// TestCompressedSchema checks that the compressed schema is revalidated as the plain one is.
func TestCompressedSchema(t *testing.T) {
	s := newServer(t, inDevelopment)
	plain, zipped := s.do("GET", "/schema.graphql", ""), s.do("GET", "/schema.graphql", "", "Accept-Encoding", "zstd")
	if decompress(t, zipped.Header().Get("Content-Encoding"), zipped.Body.Bytes()) != plain.Body.String() || zipped.Body.Len() >= plain.Body.Len()/2 {
		t.Errorf("%d bytes instead of %d: %v", zipped.Body.Len(), plain.Body.Len(), zipped.Header())
	}
	etag := zipped.Header().Get("ETag")
	if r := s.do("GET", "/schema.graphql", "", "Accept-Encoding", "zstd", "If-None-Match", etag); r.Code != 304 || etag != plain.Header().Get("ETag") {
		t.Errorf("ETag %q, then status %d", etag, r.Code)
	}
}

// feedQuery requests the whole feed as a list of an application does.
const feedQuery = `{feed(first:100){edges{cursor node{id title excerpt author{id username} commentCount likeCount creationDate viewerHasLiked}} pageInfo{endCursor hasNextPage}}}`

// BenchmarkCompression requests the whole feed of a data set. It reports the size of the response
// in each encoding. Then it compresses that response with other levels.
func BenchmarkCompression(b *testing.B) {
	s := newSite(b, false)
	if err := seed.New("bench", 1, 30).Write(b.Context(), s.db, nil); err != nil {
		b.Fatal(err)
	}
	text := s.feedIn(b, "identity")
	for _, encoding := range []string{"identity", "gzip", "zstd"} {
		b.Run(encoding, func(b *testing.B) {
			b.ReportAllocs()
			var sent []byte
			for b.Loop() {
				sent = s.feedIn(b, encoding)
			}
			b.ReportMetric(float64(len(sent)), "sent-B")
		})
	}
	for _, level := range []int{1, 3, 5, 7} {
		writer, err := gzip.NewWriterLevel(nil, level)
		if err != nil {
			b.Fatal(err)
		}
		benchmarkCoding(b, fmt.Sprint("gzip-level=", level), func() int {
			var encoded bytes.Buffer
			writer.Reset(&encoded)
			writer.Write(text)
			writer.Close()
			return encoded.Len()
		})
	}
	for level := zstd.SpeedFastest; level <= zstd.SpeedBetterCompression; level++ {
		encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithEncoderConcurrency(1),
			zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(128<<10))
		if err != nil {
			b.Fatal(err)
		}
		benchmarkCoding(b, fmt.Sprint("zstd-level=", int(level)), func() int { return len(encoder.EncodeAll(text, nil)) })
	}
}

// feedIn returns the body of a response with the feed in an encoding.
func (s *site) feedIn(b *testing.B, encoding string) []byte {
	b.Helper()
	body, err := json.Marshal(map[string]string{"query": feedQuery})
	if err != nil {
		b.Fatal(err)
	}
	request := httptest.NewRequest("POST", "/graphql", bytes.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept-Encoding", encoding)
	recorder := httptest.NewRecorder()
	s.handler.ServeHTTP(recorder, request)
	return recorder.Body.Bytes()
}

// benchmarkCoding measures encode, which returns the size of the encoded feed.
func benchmarkCoding(b *testing.B, name string, encode func() int) {
	b.Helper()
	b.Run(name, func(b *testing.B) {
		sent := 0
		for b.Loop() {
			sent = encode()
		}
		b.ReportMetric(float64(sent), "sent-B")
	})
}
