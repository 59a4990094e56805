//go:build ci

package ownwrites

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"cosmosblog/api"
	"cosmosblog/cosmostest"
	"cosmosblog/guard/limits"
	"cosmosblog/guard/proxy"
	"cosmosblog/projector"
	"cosmosblog/proof/apitest"
	"cosmosblog/proof/storetest"
	"cosmosblog/resolvers"
	"cosmosblog/store"
	"cosmosblog/store/audit"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/provision"
	"cosmosblog/store/readcache"
	"cosmosblog/store/schema"
	"cosmosblog/store/sessions"
	"cosmosblog/store/tail"
)

// world is an account with a follower that lags, and several servers. It lives in a bubble of
// synctest.
type world struct {
	*testing.T
	account *cosmostest.Account
	ranges  int // feed ranges of each container
	servers []*server
	logger  *slog.Logger

	hasNoCache    bool          // of a server that starts now
	stopProjector func()        // of inWorld
	rebuildAfter  time.Duration // the time that passes before a rebuild
}

// server is the API, as a process of its own would serve it.
type server struct {
	*world
	db       *cosmos.DB
	wire     *cosmostest.Transport
	sessions *sessions.Sessions
	options  api.Options
	handler  http.Handler
}

// staleness is the bound of what the servers keep (--cache-staleness).
const staleness = time.Second

// etagsOfShownChanges is the option of the accounts of newWorld.
var etagsOfShownChanges bool

// TestEtagsOfShownChanges runs tests under both behaviours of the etag of a page of a change feed:
// see store/changefeed.
func TestEtagsOfShownChanges(t *testing.T) {
	etagsOfShownChanges = true
	t.Cleanup(func() { etagsOfShownChanges = false })
	for name, test := range map[string]func(*testing.T){
		"late projector": TestLateProjector, "deleted user": TestDeletedUser, "split": TestSplit, "kept views": TestKeptViewsAfterSplit,
		"lost answers": TestLostAnswers,
	} {
		t.Run(name, test)
	}
}

func newWorld(t *testing.T, random *rand.Rand) *world {
	account := cosmostest.New(t, cosmostest.Options{Follower: true, EtagsOfShownChanges: etagsOfShownChanges, Random: rand.New(rand.NewPCG(random.Uint64(), 1))})
	return &world{T: t, account: account, ranges: 1, logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
}

func (w *world) open(wire *cosmostest.Transport) *cosmos.DB {
	w.Helper()
	db, err := provision.OpenEmbedded(w.Context(), w.account, cosmos.Options{Transport: storetest.Divided(wire, w.ranges)})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(db.Close)
	return db
}

// balanced is a time after which a projector has its leases, also those of a range that was split.
const balanced = 10 * time.Second

// startProjector runs a projector in a process of its own until the returned function is called.
func (w *world) startProjector(owner string, poll time.Duration) (stop func()) {
	w.Helper()
	return w.startProjectorOn(w.account.NewTransport(), projector.Options{Owner: owner, Poll: poll, Balance: time.Second})
}

// startProjectorOn is startProjector with a transport, and with options of which it sets some.
func (w *world) startProjectorOn(wire *cosmostest.Transport, o projector.Options) (stop func()) {
	w.Helper()
	db := w.open(wire)
	o.DB, o.SettleTime, o.Logger = db, 5*time.Second, w.logger
	o.Rebuild = func(ctx context.Context, _ string) error {
		if err := cosmos.Sleep(ctx, w.rebuildAfter); err != nil {
			return err
		}
		_, err := audit.Rebuild(ctx, db, audit.Options{})
		return err
	}
	p, err := projector.New(o)
	if err != nil {
		w.Fatal(err)
	}
	return apitest.Background(w, p.Run)
}

// startServer starts a server with a cache that a tail keeps current. stop ends the tail.
func (w *world) startServer() (s *server, stop func()) {
	w.Helper()
	s = &server{world: w, wire: w.account.NewTransport()}
	s.db = w.open(s.wire)
	follower := tail.New(tail.Options{
		DB:         s.db,
		Containers: []string{schema.Users, schema.Posts, schema.Feed, schema.Lists, schema.Usernames},
		Staleness:  staleness,
		Logger:     w.logger,
	})
	s.sessions = sessions.New(s.db, 5*time.Millisecond)
	reads := store.NewCached(s.db, readcache.New(1<<20, follower.Changes), follower)
	if w.hasNoCache {
		reads = store.New(s.db)
	}
	s.options = api.Options{
		Resolvers:   resolvers.New(reads.Watched(follower)),
		Scope:       resolvers.NewScopeExtension(resolvers.ScopeOptions{Diagnostics: true}),
		Errors:      resolvers.NewErrorPresenter(w.logger),
		Verifier:    apitest.Subjects{},
		Sessions:    s.sessions,
		Development: true,
		Limits:      limits.Default(),
		Logger:      w.logger,
	}
	s.handler = api.New(s.options)
	w.servers = append(w.servers, s)
	return s, apitest.Background(w, follower.Run)
}

// setInFlight sets the number of operations that the server executes at a time.
func (s *server) setInFlight(n int) {
	s.options.Limits.InFlight = n
	s.handler = api.New(s.options)
}

// answer is the answer to a request.
type answer struct {
	Data   json.RawMessage
	Errors []struct {
		Message    string
		Extensions struct{ Code string }
	}
	Extensions struct {
		Session string
		Stale   bool
	}
	status  int
	session string // the header
}

// setProxy sets the network of the trusted proxy.
func (s *server) setProxy(network netip.Prefix) {
	s.options.Proxies, s.options.Development = proxy.Trusted{network}, false
	s.handler = api.New(s.options)
}

// ask sends a request. subject and session may be empty. headers are names and values in turns.
func (s *server) ask(subject, session, document string, variables map[string]any, headers ...string) (a answer, err error) {
	body, err := json.Marshal(map[string]any{"query": document, "variables": variables})
	if err != nil {
		return a, err
	}
	request := httptest.NewRequestWithContext(s.Context(), http.MethodPost, "http://localhost/graphql", bytes.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	if subject != "" {
		request.Header.Set("Authorization", "Bearer "+subject)
	}
	if session != "" {
		request.Header.Set("Cosmosblog-Session", session)
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	recorder := httptest.NewRecorder()
	s.handler.ServeHTTP(recorder, request)
	a.status, a.session = recorder.Code, recorder.Header().Get("Cosmosblog-Session")
	if err := json.Unmarshal(recorder.Body.Bytes(), &a); err != nil {
		return a, fmt.Errorf("%w in %s", err, recorder.Body)
	}
	if len(a.Errors) > 0 {
		return a, fmt.Errorf("%s: %s", a.Errors[0].Extensions.Code, a.Errors[0].Message)
	}
	return a, nil
}

// must ends the test if a request fails, and decodes its data into result unless that is nil.
func (s *server) must(subject, session, document string, variables map[string]any, result any, headers ...string) answer {
	s.Helper()
	a, err := s.ask(subject, session, document, variables, headers...)
	if err == nil && result != nil {
		err = json.Unmarshal(a.Data, result)
	}
	if err != nil {
		s.Fatalf("%s\n%v", document, err)
	}
	return a
}
