package api_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"cosmosblog/api"
	"cosmosblog/blog"
	"cosmosblog/guard/auth"
	"cosmosblog/internal/telemetry"
	"cosmosblog/resolvers"
	"cosmosblog/store"
	"cosmosblog/store/readcache"
	"cosmosblog/store/seed"
)

// benchedRequests are the operations of BenchmarkRequests. Their variables are set by
// requestsOf.
var benchedRequests = []struct{ name, query string }{
	{"typename", `query Typename { __typename }`},
	{"post", `query Post($id: ID!) { post(id: $id) { id title content creationDate likeCount commentCount author { id username } } }`},
	{"feed", `query Feed { feed(first: 20) { edges { cursor node { id title excerpt creationDate likeCount commentCount author { id username } } } pageInfo { hasNextPage endCursor } } }`},
	{"comments", `query Comments($id: ID!) { post(id: $id) { comments(first: 20) { edges { cursor node { id content creationDate author { id username } } } pageInfo { hasNextPage endCursor } } } }`},
	{"posts", `query Posts($user: ID!) { user(id: $user) { posts(first: 20) { edges { cursor node { id title excerpt creationDate likeCount commentCount author { id username } } } pageInfo { hasNextPage endCursor } } } }`},
	{"comment", `mutation Comment($id: ID!) { createComment(input: {postId: $id, content: "I tried the same last summer, and gave up after two weeks."}) { comment { id creationDate } post { id commentCount } } }`},
}

// discarding is a http.ResponseWriter that keeps only the header.
type discarding struct{ header http.Header }

func (w *discarding) Header() http.Header         { return w.header }
func (w *discarding) WriteHeader(int)             {}
func (w *discarding) Write(p []byte) (int, error) { return len(p), nil }

// BenchmarkRequests sends operations to the handler in process, as a production server runs it:
// with metrics, a log line each, and no diagnostics. The client signs in with a token unless the
// name of the benchmark says otherwise. The cost includes reading the store; warm benchmarks read
// its cache.
func BenchmarkRequests(b *testing.B) {
	s := newSite(b, false)
	set := seed.New("bench", 1, 30)
	if err := set.Write(b.Context(), s.db, nil); err != nil {
		b.Fatal(err)
	}
	key, err := auth.OpenLocalKey(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	token, err := key.Token("anna", time.Now(), time.Hour)
	if err != nil {
		b.Fatal(err)
	}
	account, err := key.Verify(b.Context(), token)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := s.store.CreateUser(b.Context(), account, "anna"); err != nil {
		b.Fatal(err)
	}
	logger := telemetry.NewLogger(io.Discard, false, slog.LevelInfo)
	handlerOf := func(cache *readcache.Cache) http.Handler {
		return api.New(api.Options{
			Resolvers: resolvers.New(store.NewCached(s.db, cache, nil)),
			Scope:     resolvers.NewScopeExtension(resolvers.ScopeOptions{}),
			Errors:    resolvers.NewErrorPresenter(logger),
			Verifier:  key,
			Logger:    logger,
			Traffic:   telemetry.NewTraffic(logger, nil),
		})
	}
	unchanged := func(string, string) uint64 { return 0 } // nothing is written
	cold, warm := handlerOf(nil), handlerOf(readcache.New(1<<20, unchanged))
	variables := map[string]string{"id": longThread(s, set), "user": set.User(0).ID}
	for _, r := range benchedRequests {
		body, err := json.Marshal(map[string]any{"query": r.query, "variables": variables})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(r.name, func(b *testing.B) { benchmarkRequest(b, cold, body, token) })
		if r.name == "typename" {
			b.Run("typename-anonymous", func(b *testing.B) { benchmarkRequest(b, cold, body, "") })
			continue
		}
		b.Run(r.name+"-warm", func(b *testing.B) { benchmarkRequest(b, warm, body, token) })
	}
}

// longThread returns the id of a post of the set with at least 20 comments.
func longThread(s *site, set *seed.Set) string {
	users := make([]*blog.User, set.Users())
	for n := range users {
		users[n] = set.User(n)
	}
	for author := range users {
		for _, h := range set.Headings(author) {
			if h.Comments > 20 {
				return set.Thread(h, users).Post.Ref().String()
			}
		}
	}
	s.Fatal("the set has no post with 20 comments")
	return ""
}

func benchmarkRequest(b *testing.B, handler http.Handler, body []byte, token string) {
	request, err := http.NewRequest("POST", "/graphql", nil)
	if err != nil {
		b.Fatal(err)
	}
	request.Host, request.RemoteAddr = "api.example.com", "192.0.2.1:1234"
	request.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}, "User-Agent": {"bench"}}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	request.ContentLength = int64(len(body))
	reader := bytes.NewReader(body)
	w := &discarding{header: http.Header{}}
	checked := httptest.NewRecorder()
	request.Body = io.NopCloser(bytes.NewReader(body))
	if handler.ServeHTTP(checked, request); checked.Code != 200 || strings.Contains(checked.Body.String(), `"errors"`) {
		b.Fatalf("status %d: %s", checked.Code, checked.Body)
	}
	b.ReportAllocs()
	for b.Loop() {
		reader.Reset(body)
		request.Body = io.NopCloser(reader)
		clear(w.header)
		handler.ServeHTTP(w, request)
	}
	b.ReportMetric(float64(checked.Body.Len()), "answer-B")
}
