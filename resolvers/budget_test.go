package resolvers_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cosmosblog/api"
	"cosmosblog/cosmostest"
	"cosmosblog/guard/budget"
	"cosmosblog/guard/limits"
	"cosmosblog/guard/proxy"
	"cosmosblog/internal/inprocess"
	"cosmosblog/proof/apitest"
	"cosmosblog/resolvers"
	"cosmosblog/store"
)

// metered is a server in production whose clients have budgets. Its requests come from addresses.
type metered struct {
	*server
	books *budget.Books
	clock *cosmostest.Clock
}

// newMetered returns a server with budgets in RU/s, whose clock stands still.
func newMetered(t *testing.T, account, address float64) *metered {
	t.Helper()
	s := &metered{server: newServer(t), clock: cosmostest.NewClock(time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC))}
	s.budgets(account, address)
	return s
}

// budgets gives all clients new budgets.
func (s *metered) budgets(account, address float64) {
	s.books = budget.New(budget.Options{Account: account, Address: address, Now: s.clock.Now})
	logger := slog.New(slog.NewTextHandler(s.log, nil))
	s.handler = api.New(api.Options{
		Resolvers:    resolvers.New(store.NewCached(s.db, s.reads, nil)),
		Scope:        resolvers.NewScopeExtension(resolvers.ScopeOptions{Diagnostics: true, Limits: limits.Default()}),
		Errors:       resolvers.NewErrorPresenter(logger),
		Verifier:     apitest.Subjects{},
		Books:        s.books,
		Logger:       logger,
		PublicMaxAge: time.Minute,
		Proxies:      proxy.Trusted{},
		Now:          s.clock.Now,
	})
}

// from sends a request from an address, and returns its response.
func (s *metered) from(address, subject, method, query string, headers ...string) *httptest.ResponseRecorder {
	s.Helper()
	body, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		s.Fatal(err)
	}
	r := httptest.NewRequest(method, "http://blog.example.com/graphql", strings.NewReader(string(body)))
	if method == "GET" {
		r = httptest.NewRequest(method, "http://blog.example.com/graphql?query="+strings.ReplaceAll(query, " ", "%20"), nil)
	}
	r.RemoteAddr = address + ":1234"
	r.Header.Set("Content-Type", "application/json")
	if subject != "" {
		r.Header.Set("Authorization", "Bearer "+subject)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	return w
}

const (
	office    = "203.0.113.7"
	elsewhere = "203.0.113.8"
	feed      = `{ feed { nodes { title } } }`
)

// TestRefusedByBudget checks the response to a client that has used up its budget, and that others
// and the same one later are served.
func TestRefusedByBudget(t *testing.T) {
	s := newMetered(t, 0, 0)
	createLists(s.server)
	s.budgets(0, 2)
	var w *httptest.ResponseRecorder
	requests := 0
	for requests = 1; requests < 100; requests++ {
		if w = s.from(office, "", "POST", feed); w.Code != 200 {
			break
		}
		if got := w.Header().Get("RateLimit-Policy"); got != `"address";q=20;w=10` {
			t.Fatalf("RateLimit-Policy: %q", got)
		}
	}
	var refused struct {
		Data   any
		Errors []struct {
			Message    string
			Extensions struct {
				Code         string
				RetryAfterMs int
			}
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &refused); err != nil || len(refused.Errors) != 1 {
		t.Fatalf("after %d requests: %d %s", requests, w.Code, w.Body)
	}
	e := refused.Errors[0].Extensions
	if w.Code != 429 || e.Code != "BUDGET_EXCEEDED" || e.RetryAfterMs < 1 || e.RetryAfterMs > 5000 || strings.Contains(w.Body.String(), `"data"`) {
		t.Errorf("refused with %d %s", w.Code, w.Body)
	}
	if after := w.Header().Get("Retry-After"); after != fmt.Sprint((e.RetryAfterMs+999)/1000) {
		t.Errorf("Retry-After %s with %d ms", after, e.RetryAfterMs)
	}
	if got := w.Header().Get("RateLimit"); !strings.HasPrefix(got, `"address";r=0;t=`) {
		t.Errorf("RateLimit: %s", got)
	}
	if w := s.from(elsewhere, "", "POST", feed); w.Code != 200 {
		t.Errorf("another address: %d %s", w.Code, w.Body)
	}
	if w := s.from(office, "ann", "POST", feed); w.Code != 429 {
		t.Errorf("an account at the address: %d %s", w.Code, w.Body)
	}
	s.clock.Advance(time.Duration(e.RetryAfterMs-1) * time.Millisecond)
	if w := s.from(office, "", "POST", feed); w.Code != 429 {
		t.Errorf("1 ms too early: %d %s", w.Code, w.Body)
	}
	s.clock.Advance(time.Millisecond)
	if w := s.from(office, "", "POST", feed); w.Code != 200 {
		t.Errorf("after the wait: %d %s", w.Code, w.Body)
	}
}

// TestKeptAnswersPay checks that a kept answer pays what reading it once cost, in all kinds of
// reads, and that what the operation was charged is less.
func TestKeptAnswersPay(t *testing.T) {
	if *faultsFlag != "" {
		t.Skip("there is no cache")
	}
	s := newMetered(t, 0, 0)
	createLists(s.server)
	for _, query := range []string{
		feed,
		`{ feed(first: 3) { nodes { content } } }`,
		`{ tags { name postCount } }`,
		`{ userByUsername(username: "ann") { posts { nodes { title } } } }`,
		`{ post(id: "p_aaaaaaaaaaaaaaaaaaaaaaaaaa") { title } }`,
	} {
		spent := func() float64 {
			before := s.books.Totals().Spent
			if w := s.from(office, "", "POST", query); w.Code != 200 {
				t.Fatalf("%s: %s", query, w.Body)
			}
			return s.books.Totals().Spent - before
		}
		first, second := spent(), spent()
		if diff := first - second; first < 1 || diff > 0.02 || diff < -0.02 {
			t.Errorf("%s: %v RU were spent, then %v RU", query, first, second)
		}
	}
}

// TestHundredConnections checks that a client spends no more with a hundred connections.
func TestHundredConnections(t *testing.T) {
	s := newMetered(t, 0, 0)
	createLists(s.server)
	s.budgets(0, 10)
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			for range 5 {
				s.from(office, "", "POST", feed)
			}
		})
	}
	all.Wait()
	if spent := s.books.Totals().Spent; spent < 100 || spent > 120 {
		t.Errorf("%v RU were spent of a budget of 100 RU", spent)
	}
}

// TestMutationsStopAtBudget checks that of several mutations in a request, those are not executed
// for which nothing is left after the background work of the others.
func TestMutationsStopAtBudget(t *testing.T) {
	s := newMetered(t, 0, 0)
	s.user("ann")
	s.budgets(2, 0)
	var document strings.Builder
	for i := range 5 {
		fmt.Fprintf(&document, `m%d: createPost(input: {title: "%d", content: "Text"}) { post { id } } `, i, i)
	}
	w := s.from(office, "ann", "POST", "mutation { "+document.String()+"}")
	var got struct {
		Data   map[string]*struct{ Post struct{ ID string } }
		Errors []struct {
			Path       []any
			Extensions map[string]any
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != 200 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if got.Data["m0"] == nil || got.Data["m4"] != nil || len(got.Errors) == 0 || got.Errors[0].Extensions["code"] != "BUDGET_EXCEEDED" ||
		got.Errors[0].Extensions["retryAfterMs"] == nil {
		t.Errorf("got %s", w.Body)
	}
	for _, e := range got.Errors {
		if got.Data[e.Path[0].(string)] != nil {
			t.Errorf("%v has data and an error", e.Path)
		}
	}
	if w := s.from(office, "ann", "POST", feed); w.Code != 429 {
		t.Errorf("after that: %d %s", w.Code, w.Body)
	}
}

// TestBudgetInDiagnostics checks extensions.budget.
func TestBudgetInDiagnostics(t *testing.T) {
	s := newMetered(t, 0, 0)
	ann := s.user("ann")
	post := ann.ask(`mutation{createPost(input:{title:"A title",content:"Text"}){post{id}}}`).text("createPost.post.id")
	s.budgets(100, 1000)
	w := s.from(office, "ann", "POST", fmt.Sprintf(`mutation{likePost(input:{postId:%q}){post{likeCount}}}`, post), "X-Cosmos-Diagnostics", "1")
	var got struct {
		Extensions struct {
			Cosmos struct{ RequestCharge float64 }
			Budget struct {
				Spent            float64
				Caused           map[string]float64
				Account, Address struct{ PerSecond, Size, Left, Debt float64 }
			}
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	b := got.Extensions.Budget
	if charge := got.Extensions.Cosmos.RequestCharge; b.Spent < charge || b.Spent > charge+1.2 || b.Caused["projection"] != 12 || b.Account.Size != 1000 || b.Address.PerSecond != 1000 ||
		b.Account.Left != math.Floor(1000-b.Spent) || b.Account.Debt != 12 {
		t.Errorf("got %s", w.Body)
	}
	if w := s.from(office, "ann", "POST", feed); strings.Contains(w.Body.String(), "budget") {
		t.Errorf("without the header: %s", w.Body)
	}
}

// TestRateLimitHeadersArePrivate checks that an answer that caches share does not have the state of
// one client's budget.
func TestRateLimitHeadersArePrivate(t *testing.T) {
	s := newMetered(t, 0, 0)
	createLists(s.server)
	s.budgets(100, 100)
	shared := s.from(office, "", "GET", feed)
	if shared.Code != 200 || !strings.HasPrefix(shared.Header().Get("Cache-Control"), "public") || shared.Header().Get("RateLimit") != "" {
		t.Errorf("a shared answer: %d %v", shared.Code, shared.Header())
	}
	personal := s.from(office, "ann", "GET", feed)
	if personal.Code != 200 || !strings.Contains(personal.Header().Get("RateLimit"), `"account";r=`) {
		t.Errorf("a personal answer: %d %v", personal.Code, personal.Header())
	}
	if again := s.from(office, "ann", "GET", feed, "If-None-Match", personal.Header().Get("ETag")); again.Code != 304 || again.Header().Get("RateLimit") == "" {
		t.Errorf("an unchanged answer: %d %v", again.Code, again.Header())
	}
}

// TestUnknownProxy checks that a proxy that is not trusted is logged, once.
func TestUnknownProxy(t *testing.T) {
	s := newMetered(t, 0, 100)
	for range 3 {
		s.from(office, "", "POST", feed, "X-Forwarded-For", "192.0.2.1")
	}
	if n := strings.Count(s.log.String(), "share one budget"); n != 1 || !strings.Contains(s.log.String(), `proxy=203.0.113.7`) {
		t.Errorf("logged %d times: %s", n, s.log)
	}
	s.budgets(0, 0)
	s.log.Reset()
	s.clock.Advance(time.Hour)
	s.from(elsewhere, "", "POST", feed, "X-Forwarded-For", "192.0.2.1")
	if strings.Contains(s.log.String(), "share one budget") {
		t.Errorf("logged without budgets: %s", s.log)
	}
}

// TestAttackerLeavesThroughput checks that a client that sends at full speed from one address
// leaves the throughput of the database to others: no request of theirs is throttled.
func TestAttackerLeavesThroughput(t *testing.T) {
	if *faultsFlag != "" {
		t.Skip("faults throttle, too")
	}
	noon := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	clock, ofEngine := cosmostest.NewClock(noon), cosmostest.NewClock(noon)
	var prepared atomic.Bool
	engine := cosmostest.New(t, cosmostest.Options{Throughput: 100, Now: func() time.Time {
		if !prepared.Load() {
			ofEngine.Advance(time.Second)
		}
		return ofEngine.Now()
	}})
	throttled := 0
	counted := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		recorder := httptest.NewRecorder()
		engine.ServeHTTP(recorder, r)
		if recorder.Code == http.StatusTooManyRequests {
			throttled++
		}
		maps.Copy(w.Header(), recorder.Header())
		w.WriteHeader(recorder.Code)
		_, _ = w.Write(recorder.Body.Bytes())
	})
	s := &metered{server: startServer(t, engine, newInjector(t, engine, inprocess.To(counted)), false), clock: clock}
	createLists(s.server)
	s.budgets(0, 25)
	for s.from(office, "", "POST", feed).Code == 200 { // the attacker spends what was saved
	}
	prepared.Store(true)
	refused, served := 0, 0
	for tick := range 600 { // 30 s
		for range 20 {
			if w := s.from(office, "", "POST", feed); w.Code == http.StatusTooManyRequests {
				refused++
			} else {
				served++
			}
		}
		if tick%5 == 0 {
			if w := s.from(elsewhere, "", "POST", feed); w.Code != 200 || strings.Contains(w.Body.String(), "errors") {
				t.Errorf("another client gets %d %s", w.Code, w.Body)
			}
		}
		clock.Advance(50 * time.Millisecond)
		ofEngine.Advance(50 * time.Millisecond)
	}
	if throttled > 0 || refused < 10_000 || served < 200 {
		t.Errorf("%d requests were throttled; the attacker was refused %d times and served %d times", throttled, refused, served)
	}
}

// TestDisconnectedClientsPay checks that a client that disconnects during a request to the database
// pays what it is charged, and for the work that a mutation causes.
func TestDisconnectedClientsPay(t *testing.T) {
	skipUnderFaults(t)
	var disconnect context.CancelFunc // of the client, at the next write or read of a content
	charged := 0.0
	engine := newEngine(t)
	cutting := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if disconnect != nil && (strings.HasSuffix(r.URL.Path, "/docs/content") || strings.Contains(r.URL.Path, "/sprocs/")) {
			disconnect()
		}
		recorder := httptest.NewRecorder()
		engine.ServeHTTP(recorder, r)
		if r.Context().Err() != nil {
			t.Error("a request to the database was cut")
		}
		charge, _ := strconv.ParseFloat(recorder.Header().Get("X-Ms-Request-Charge"), 64)
		charged += charge
		maps.Copy(w.Header(), recorder.Header())
		w.WriteHeader(recorder.Code)
		_, _ = w.Write(recorder.Body.Bytes())
	})
	s := &metered{
		server: startServer(t, engine, newInjector(t, engine, inprocess.To(cutting)), false),
		clock:  cosmostest.NewClock(time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)),
	}
	ann := s.user("ann")
	long := ann.post("Long", strings.Repeat("word ", 50<<10))
	for query, caused := range map[string]float64{
		fmt.Sprintf(`{ post(id: %q) { content comments { nodes { id } } } }`, long):            0,
		`mutation { createPost(input: {title: "Title", content: "Text"}) { post { title } } }`: 60,
		fmt.Sprintf(`mutation { likePost(input: {postId: %q}) { post { title } } }`, long):     12,
	} {
		s.budgets(300, 1500)
		ctx, cancel := context.WithCancel(t.Context())
		disconnect, charged = cancel, 0
		body, _ := json.Marshal(map[string]string{"query": query})
		r := httptest.NewRequest("POST", "http://blog.example.com/graphql", strings.NewReader(string(body))).WithContext(ctx)
		r.RemoteAddr = office + ":1234"
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer ann")
		s.handler.ServeHTTP(httptest.NewRecorder(), r)
		disconnect = nil
		got := s.books.Totals()
		if ctx.Err() == nil || got.Spent < charged-0.01 || charged == 0 || got.Caused["projection"] != caused {
			t.Errorf("%s was charged %.2f RU, and paid %+v", query, charged, got)
		}
	}
}

// TestExpensiveOperationsAreStopped checks that operations that spend much more than their prices
// stop when the budget is used up, although they were admitted together.
func TestExpensiveOperationsAreStopped(t *testing.T) {
	skipUnderFaults(t)
	s := newMetered(t, 0, 0)
	ann := s.user("ann")
	var ids []string
	for i := range 30 {
		ids = append(ids, ann.post(fmt.Sprint("Long", i), strings.Repeat("word ", 50<<10)))
	}
	list, _ := json.Marshal(ids)
	query := fmt.Sprintf(`{ nodes(ids: %s) { ... on Post { content } } }`, list)
	s.reads = nil // each operation reads for itself
	s.budgets(0, 300)
	stopped := 0
	var all sync.WaitGroup
	var mu sync.Mutex
	for range 20 {
		all.Go(func() {
			w := s.from(office, "", "POST", query)
			mu.Lock()
			defer mu.Unlock()
			if w.Code == 200 && strings.Contains(w.Body.String(), "BUDGET_EXCEEDED") {
				stopped++
			}
		})
	}
	all.Wait()
	// One of them spends about 800 RU, in a request of 90 RU and others of 400 RU.
	if spent := s.books.Totals().Spent; stopped == 0 || spent > 3000+20*500 {
		t.Errorf("%d operations were stopped; %.0f RU were spent of 3000", stopped, spent)
	}
}
