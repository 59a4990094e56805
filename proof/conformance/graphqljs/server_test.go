//go:build ci

package graphqljs_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cosmosblog/api"
	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/guard/limits"
	"cosmosblog/internal/inprocess"
	"cosmosblog/proof/apitest"
	"cosmosblog/resolvers"
	"cosmosblog/store"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/provision"
	"cosmosblog/store/schema"
	"cosmosblog/store/seed"
	"cosmosblog/store/tail"
)

// server is the API in development, on a loopback address and an engine of its own, with the posts
// of three users and all views. No projector runs.
type server struct {
	*testing.T
	engine   *cosmostest.Account
	db       *cosmos.DB
	url      string
	streams  string // the URL of a second server on the same database, for subscriptions
	log      bytes.Buffer
	requests atomic.Int64 // to the database, but those of streams
}

func newServer(t *testing.T) *server {
	t.Helper()
	engine := cosmostest.New(t, cosmostest.Options{})
	s := &server{T: t, engine: engine}
	counted := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		engine.ServeHTTP(w, r)
	})
	db, err := provision.OpenEmbedded(t.Context(), engine, cosmos.Options{Transport: inprocess.To(counted)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	if err := seed.New("test", 1, 3).Write(t.Context(), db, nil); err != nil {
		t.Fatal(err)
	}
	s.db = db
	s.url = s.serve(store.New(db), limits.Default())
	return s
}

// serve starts a server with limits, and returns its URL.
func (s *server) serve(data *store.Store, l limits.Limits) string {
	s.Helper()
	logger := slog.New(slog.NewTextHandler(&s.log, &slog.HandlerOptions{Level: slog.LevelError}))
	listening := httptest.NewServer(api.New(api.Options{
		Resolvers:   resolvers.New(data),
		Scope:       resolvers.NewScopeExtension(resolvers.ScopeOptions{Limits: l}),
		Errors:      resolvers.NewErrorPresenter(logger),
		Verifier:    apitest.Subjects{},
		Development: true,
		Limits:      l,
		Logger:      logger,
	}))
	s.Cleanup(func() { listening.CloseClientConnections(); listening.Close() })
	return listening.URL
}

// stream starts the server of subscriptions, which follows the database's changes.
func (s *server) stream() {
	s.Helper()
	db, err := provision.OpenEmbedded(s.Context(), s.engine, cosmos.Options{}) // its polls are not counted
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(db.Close)
	watcher := tail.New(tail.Options{DB: db, Containers: []string{schema.Posts, schema.Feed}, Staleness: time.Second, Logger: slog.New(slog.DiscardHandler)})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = watcher.Run(ctx) }()
	s.Cleanup(func() { cancel(); <-ended })
	s.streams = s.serve(store.New(db).Watched(watcher), limits.Default())
}

// reply is what the server makes of a document.
type reply struct {
	Phase    string          // as in oracle.js, or "limit" if the document is above a limit of the server
	Message  string          // of the first error
	Codes    []string        // of all errors
	Data     json.RawMessage // nil if it does not run
	Requests int64           // to the database
	Body     string
	IsSilent bool // a stream without a message
}

// answer is a GraphQL response.
type answer struct {
	Data   json.RawMessage
	Errors []struct {
		Message    string
		Path       []any
		Extensions struct{ Code string }
	}
}

// send sends a document with the token of an account, or anonymously if it is empty.
func (s *server) send(d *document, token string) reply {
	s.Helper()
	url := s.url
	if d.Kind == "subscription" {
		url = s.streams
	}
	ctx := s.Context()
	if d.Kind == "subscription" {
		within, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		ctx = within
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/graphql", strings.NewReader(d.body()))
	if err != nil {
		s.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/graphql-response+json, text/event-stream")
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	before := s.requests.Load()
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		s.Fatal(err)
	}
	defer response.Body.Close()
	var text []byte
	if strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		text, err = firstMessage(response.Body)
	} else {
		text, err = io.ReadAll(response.Body)
	}
	if err != nil {
		s.Fatal(err)
	}
	r := reply{Requests: s.requests.Load() - before, Body: string(text)}
	if len(text) == 0 { // a stream that is silent, or has ended without a message
		r.Phase, r.IsSilent = "run", true
		return r
	}
	var a answer
	if err := json.Unmarshal(text, &a); err != nil {
		s.Fatalf("%s: %v: %.1000s", d, err, text)
	}
	r.Data, r.Phase = a.Data, "run"
	for _, e := range a.Errors {
		r.Codes = append(r.Codes, e.Extensions.Code)
	}
	if len(a.Errors) > 0 {
		r.Message = a.Errors[0].Message
		if a.Data == nil {
			r.Phase = phaseOf(a.Errors[0].Extensions.Code, len(a.Errors[0].Path) > 0)
		}
	}
	return r
}

// phaseOf returns the phase in which an operation without data was refused, by the code of its
// error. A stream whose first field fails has no data either, but its error has a path.
func phaseOf(code string, hasPath bool) string {
	switch {
	case code == "GRAPHQL_PARSE_FAILED":
		return "parse"
	case code == "GRAPHQL_VALIDATION_FAILED":
		return "validation"
	case code == "LIMIT_EXCEEDED", code == "COST_LIMIT_EXCEEDED":
		return "limit"
	case hasPath:
		return "run"
	case code == "BAD_USER_INPUT":
		return "request"
	}
	return code
}

// patience is the time after which a stream without a message counts as accepted. The documents
// avoid such streams.
const patience = time.Second

// firstMessage returns the data of the first event of a stream, or nothing if it ends before, or
// says nothing for a while.
func firstMessage(body io.Reader) ([]byte, error) {
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, blog.MaxAnswerBytes+1<<10)
	for lines.Scan() {
		if data, isData := strings.CutPrefix(lines.Text(), "data: "); isData {
			return []byte(data), nil
		}
	}
	if err := lines.Err(); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("read a stream: %w", err)
	}
	return nil, nil
}
