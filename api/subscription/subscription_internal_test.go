package subscription

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"cosmosblog/blog"
	"cosmosblog/graph/stream"
	"cosmosblog/guard/budget"
	"cosmosblog/guard/limits"
	"cosmosblog/guard/memorypool"
	"cosmosblog/guard/request"
)

// world is a server of subscriptions to one thing that happens, in a synctest bubble. A
// subscription of `state` has the number of the last event, and one of `event` each number. The
// selection of a subscription is an answer with as many fields as its name says.
type world struct {
	*Server
	created, executions atomic.Int64                       // operations
	lasts               time.Duration                      // an execution
	failure             atomic.Value                       // the code of failed executions; empty if they succeed
	fails               func(read int, hasEvent bool) bool // whether a read fails, before or after it has waited; may be nil

	mu       sync.Mutex
	happened int // events
	changed  chan struct{}
}

var worldSchema = gqlparser.MustLoadSchema(&ast.Source{Input: "type Query{x:Int} type Subscription{state:Int event:Int}"})

func newWorld(processors float64, change func(*limits.Limits)) *world {
	w := &world{changed: make(chan struct{})}
	l := limits.Default()
	if change != nil {
		change(&l)
	}
	w.Server = New(Options{
		API: w, Books: budget.New(budget.Options{}),
		Processor: budget.NewProcessor(processors, true, time.Now), Answers: memorypool.New(l.AllAnswersBytes, time.Now),
		Limits: l, Now: time.Now, Count: func(int) {}, Worked: func(time.Duration) {},
	})
	return w
}

type gapKey struct{}

// subscribe opens a subscription of an address. It returns what it receives.
func (w *world) subscribe(ctx context.Context, address, query string) *received {
	r := new(received)
	ctx = request.With(ctx, func(q *request.Request) { q.Address = netip.MustParseAddr(address) })
	go func() {
		refused, _ := w.Run(ctx, &graphql.RawParams{Query: query}, nil, func(_ context.Context, m Message) error {
			r.answers = append(r.answers, string(m.Body))
			return nil
		})
		r.refused = refused
	}()
	return r
}

type received struct {
	answers []string
	refused gqlerror.List
}

// happen makes some events happen, with a time between them.
func (w *world) happen(events int, apart time.Duration) {
	for range events {
		w.mu.Lock()
		w.happened++
		close(w.changed)
		w.changed = make(chan struct{})
		w.mu.Unlock()
		rest(apart)
	}
}

// rest waits for some time, and until all streams wait.
func rest(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// state returns the number of events so far, and a channel that is closed at the next one.
func (w *world) state() (happened int, changed <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.happened, w.changed
}

// CreateOperation implements API.
func (w *world) CreateOperation(_ context.Context, params *graphql.RawParams) (*Operation, time.Duration, gqlerror.List) {
	w.created.Add(1)
	document, errs := gqlparser.LoadQuery(worldSchema, params.Query)
	if errs != nil {
		return nil, 50 * time.Millisecond, errs
	}
	return &Operation{
		Context:  &graphql.OperationContext{RawQuery: params.Query, Doc: document, Operation: document.Operations[0], RecoverFunc: graphql.DefaultRecover},
		Key:      params.Query,
		Document: params.Query, DocumentBytes: len(params.Query), Release: func() {},
	}, 0, nil
}

func (*world) Encode(_ context.Context, _ *graphql.OperationContext, r *graphql.Response) []byte {
	text, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	return text
}

func (*world) Present(_ context.Context, err error) *gqlerror.Error {
	return &gqlerror.Error{Message: err.Error(), Extensions: map[string]any{"code": string(blog.CodeOf(err))}}
}

func (*world) TakePlace() (func(), bool) { return func() {}, true }

// Open implements API.
func (w *world) Open(ctx context.Context, operation *graphql.OperationContext) (stream.Stream, gqlerror.List) {
	field := operation.Operation.SelectionSet[0].(*ast.Field)
	return &worldStream{world: w, isState: field.Name == "state", hasGap: ctx.Value(gapKey{}) != nil}, nil
}

// Execute implements API.
func (w *world) Execute(_ context.Context, operation *graphql.OperationContext, value any) *graphql.Response {
	w.executions.Add(1)
	time.Sleep(w.lasts)
	if code, _ := w.failure.Load().(blog.Code); code != "" {
		failed := &gqlerror.Error{Extensions: map[string]any{"code": code, "retryAfterMs": int64(1000)}}
		return &graphql.Response{Errors: gqlerror.List{failed}, Extensions: map[string]any{}}
	}
	fields := 1
	_, _ = fmt.Sscanf(operation.Operation.Name, "F%d", &fields)
	data := bytes.Repeat([]byte(`"x":0,`), fields-1)
	return &graphql.Response{Data: fmt.Appendf(nil, `{%s"n":%v}`, data, value), Extensions: map[string]any{}}
}

type worldStream struct {
	*world
	isState, hasGap bool
	isBegun         bool
	seen, reads     int
}

func (s *worldStream) Next(ctx context.Context) (stream.Event, error) {
	failed := &blog.Error{Code: blog.Throttled, RetryAfter: time.Second}
	if s.reads++; s.fails != nil && s.fails(s.reads, false) {
		return stream.Event{}, failed
	}
	happened, changed := s.state()
	for s.isBegun && s.seen == happened || !s.isState && happened == 0 {
		select {
		case <-changed:
		case <-ctx.Done():
			return stream.Event{}, ctx.Err()
		}
		happened, changed = s.state()
	}
	if s.fails != nil && s.fails(s.reads, true) {
		return stream.Event{}, failed
	}
	s.isBegun = true
	if s.seen++; s.isState {
		s.seen = happened
	}
	event := stream.Event{Value: s.seen, ID: fmt.Sprint(s.seen), IsState: s.isState, HasGap: s.hasGap}
	s.hasGap = false
	return event, nil
}

func (*worldStream) Follow(ctx context.Context) context.Context { return ctx }

func (*worldStream) Close() {}

func numbersOf(t *testing.T, r *received) (numbers []int) {
	t.Helper()
	for _, answer := range r.answers {
		var n int
		if _, err := fmt.Sscanf(answer[strings.LastIndex(answer, `"n":`):], `"n":%d`, &n); err != nil {
			t.Fatal(answer)
		}
		numbers = append(numbers, n)
	}
	return numbers
}

// bubble runs a test in a synctest bubble, with a context that ends before it.
func bubble(t *testing.T, test func(*testing.T, context.Context)) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		test(t, ctx)
		cancel()
		synctest.Wait()
	})
}

// The document of a stream is read when it is opened, and not for its events.
func TestEventsReadNoDocument(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		w := newWorld(2, nil)
		r := w.subscribe(ctx, "10.0.0.1", "subscription{event}")
		synctest.Wait()
		w.happen(10, time.Second)
		if w.created.Load() != 1 || w.executions.Load() != 10 || len(r.answers) != 10 {
			t.Errorf("%d operations were created for %d executions, and %d answers", w.created.Load(), w.executions.Load(), len(r.answers))
		}
	})
}

// heavy is a subscription whose answer stands for about 18 ms of processor time.
func heavy(n int, field string) string { return fmt.Sprintf("subscription F9000{%s} #%d", field, n) }

// A client whose streams cost more than its share gets fewer states, and the newest of them in the
// end. Another client gets all of its states, at once.
func TestUsedUpShare(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		const seconds = 30
		w := newWorld(2, nil) // a client has a quarter of one
		var heavies []*received
		for i := range 100 {
			heavies = append(heavies, w.subscribe(ctx, "10.0.0.1", heavy(i, "state")))
		}
		other := w.subscribe(ctx, "10.0.0.2", "subscription{state}")
		synctest.Wait()
		w.happen(10*seconds, 100*time.Millisecond)
		if got := numbersOf(t, other); len(got) != 10*seconds+1 || got[len(got)-1] != w.happened {
			t.Errorf("the other client has %d of %d states", len(got)-1, 10*seconds)
		}
		executed := time.Duration(int(w.executions.Load())-len(other.answers)) * executionWork(0, bytes.Repeat([]byte(`"x":0,`), 9000), 0)
		if most := (seconds + 2) * time.Second / 4; executed > most || executed < most/2 {
			t.Errorf("executions stand for %v, want at most %v and most of it", executed, most)
		}
		rest(time.Minute)
		for i, r := range heavies {
			got := numbersOf(t, r)
			if len(got) == 0 || got[len(got)-1] != w.happened || !slices.IsSorted(got) {
				t.Fatalf("stream %d has %v, want to end with %d", i, got, w.happened)
			}
		}
	})
}

// A state that has waited for the share is replaced by the newest one.
func TestWaitingStatesAreRenewed(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		w := newWorld(2, nil)
		r := w.subscribe(ctx, "10.0.0.1", heavy(0, "state"))
		synctest.Wait()
		rest(time.Minute)
		w.Processor.User("", netip.MustParseAddr("10.0.0.1")).Add(time.Second) // 4 s at 0.25 processors
		w.happen(20, 100*time.Millisecond)
		rest(time.Minute)
		if got := numbersOf(t, r); !slices.Equal(got, []int{0, 20}) || w.executions.Load() != 2 {
			t.Errorf("got the states %v by %d executions", got, w.executions.Load())
		}
	})
}

// Events wait for the share, and none is lost.
func TestEventsWaitForTheShare(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		w := newWorld(2, nil)
		var all []*received
		for i := range 20 {
			all = append(all, w.subscribe(ctx, "10.0.0.1", heavy(i, "event")))
		}
		synctest.Wait()
		w.happen(20, 10*time.Millisecond) // 4 s of processor time
		if n := w.executions.Load(); n > 100 {
			t.Errorf("%d executions at once", n)
		}
		rest(5 * time.Minute)
		for i, r := range all {
			if got := numbersOf(t, r); len(got) != 20 || !slices.IsSorted(got) {
				t.Fatalf("stream %d has %v", i, got)
			}
		}
	})
}

// An event waits as long as its client has no budget for the fields. Other errors are told after
// some time.
func TestEventsWaitForTheBudget(t *testing.T) {
	for failure, want := range map[blog.Code]string{blog.BudgetExceeded: `{"n":1}`, blog.Throttled: string(blog.Throttled)} {
		bubble(t, func(t *testing.T, ctx context.Context) {
			w := newWorld(2, nil)
			r := w.subscribe(ctx, "10.0.0.1", "subscription{event}")
			synctest.Wait()
			w.failure.Store(failure)
			w.happen(1, 2*maxFailing)
			w.failure.Store(blog.Code(""))
			rest(time.Minute)
			if len(r.answers) != 1 || !strings.Contains(r.answers[0], want) {
				t.Errorf("%s: got %q", failure, r.answers)
			}
		})
	}
}

// Two failures far apart do not end a stream, although nothing happened between them.
func TestFailuresFarApart(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		w := newWorld(2, nil)
		w.fails = func(read int, hasEvent bool) bool { return read == 2 && !hasEvent || read == 3 && hasEvent }
		r := w.subscribe(ctx, "10.0.0.1", "subscription{event}")
		synctest.Wait()
		w.happen(2, time.Hour)
		if got := numbersOf(t, r); len(got) != 2 || got[1] != 2 {
			t.Errorf("got %q", r.answers)
		}
	})
}

// The streams of many clients leave half of the processors to requests, and a client that uses
// little comes before those that use their share up.
func TestShareOfTheServer(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		const processors, seconds = 2, 10
		w := newWorld(processors, nil)
		for client := range 20 {
			for i := range 5 {
				w.subscribe(ctx, fmt.Sprintf("10.0.%d.1", client), heavy(100*client+i, "state"))
			}
		}
		light := w.subscribe(ctx, "10.1.0.1", "subscription{event}")
		synctest.Wait()
		w.happen(10*seconds, 100*time.Millisecond)
		if got := numbersOf(t, light); len(got) != 10*seconds {
			t.Errorf("the light client has %d of %d events", len(got), 10*seconds)
		}
		executed := time.Duration(int(w.executions.Load())-len(light.answers)) * executionWork(0, bytes.Repeat([]byte(`"x":0,`), 9000), 0)
		if most := processors / 2 * (seconds + 3) * time.Second; executed > most || executed < most/2 {
			t.Errorf("executions stand for %v, want at most %v and most of it", executed, most)
		}
	})
}

// Events leave half of the places of operations to requests.
func TestPlacesOfEvents(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		w := newWorld(2, func(l *limits.Limits) { l.InFlight = 6 })
		w.lasts = 100 * time.Millisecond
		var all []*received
		for i := range 12 {
			all = append(all, w.subscribe(ctx, fmt.Sprintf("10.0.%d.1", i), fmt.Sprintf("subscription{event} #%d", i)))
		}
		synctest.Wait()
		w.happen(1, 0)
		if n := w.executions.Load(); n != 3 {
			t.Errorf("%d executions at once", n)
		}
		rest(10 * time.Second)
		for i, r := range all {
			if len(r.answers) != 1 {
				t.Errorf("stream %d has %d answers", i, len(r.answers))
			}
		}
	})
}

// A client that sends documents that are refused, again and again, has no more of them read.
func TestRefusedDocumentsAreCharged(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		w := newWorld(2, nil)
		query := "subscription{unknown} #" + strings.Repeat("x", 32<<10)
		for range 1000 {
			w.subscribe(ctx, "10.0.0.1", query)
			synctest.Wait()
		}
		if n := w.created.Load(); n < 5 || n > 15 { // of 50 ms each, and a quarter of a processor for two seconds
			t.Errorf("%d documents were read", n)
		}
		r := w.subscribe(ctx, "10.0.0.1", "subscription{event}")
		synctest.Wait()
		if len(r.refused) != 1 || r.refused[0].Extensions["code"] != string(blog.BudgetExceeded) {
			t.Errorf("got %v", r.refused)
		}
		rest(time.Minute)
		if r := w.subscribe(ctx, "10.0.0.1", "subscription{event}"); r.refused != nil {
			t.Errorf("after a minute: %v", r.refused)
		}
		synctest.Wait()
	})
}

// Streams that begin at different places share an answer only if both have a gap before it.
func TestGapsAreNotShared(t *testing.T) {
	for _, isFirst := range []bool{true, false} {
		bubble(t, func(t *testing.T, ctx context.Context) {
			w := newWorld(2, nil)
			withGap := context.WithValue(ctx, gapKey{}, true)
			var gaps, others []*received
			for i := range 4 {
				if (i%2 == 0) == isFirst {
					gaps = append(gaps, w.subscribe(withGap, "10.0.0.1", "subscription{event}"))
				} else {
					others = append(others, w.subscribe(ctx, "10.0.0.1", "subscription{event}"))
				}
				synctest.Wait()
			}
			rest(time.Millisecond) // answers that begin now are later than the requests
			w.happen(2, 100*time.Millisecond)
			const plain, gap = `{"data":{"n":1}}`, `{"data":{"n":1},"extensions":{"gap":true}}`
			for _, r := range gaps {
				if len(r.answers) != 2 || r.answers[0] != gap || strings.Contains(r.answers[1], "gap") {
					t.Errorf("with a gap: %q", r.answers)
				}
			}
			for _, r := range others {
				if len(r.answers) != 2 || r.answers[0] != plain {
					t.Errorf("without a gap: %q", r.answers)
				}
			}
			if n := w.executions.Load(); n != 3 {
				t.Errorf("%d executions, want one for each of the answers", n)
			}
		})
	}
}

// One limit is for the subscriptions of each account, and for those of each address.
func TestClientStreams(t *testing.T) {
	for most, refused := range map[int]error{2: errTooMany, 0: nil} {
		l := limits.Default()
		l.ClientStreams = most
		enter := func(p *places, last byte, account string) error {
			_, err := p.enter(netip.AddrFrom4([4]byte{10, 0, 0, last}), account, &Operation{})
			return err
		}
		ofAccount, ofAddress := newPlaces(l), newPlaces(l)
		for n := range byte(3) {
			account, address := enter(ofAccount, n, "u_1"), enter(ofAddress, 1, fmt.Sprint("u_", n))
			want := error(nil)
			if n == 2 {
				want = refused
			}
			if account != want || address != want {
				t.Errorf("of at most %d, subscription %d of an account: %v; of an address: %v", most, n, account, address)
			}
		}
	}
}

// The number of streams follows from the memory, equal documents count once, and one client leaves
// room to others.
func TestMemoryOfStreams(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		const each = streamBytes + 10<<10
		w := newWorld(2, func(l *limits.Limits) { l.StreamsBytes = 16 * each })
		query := func(n int) string {
			query := fmt.Sprintf("subscription{event} #%d", n)
			return query + strings.Repeat("x", 10<<10-len(query))
		}
		open := func(ctx context.Context, address string, query string) blog.Code {
			r := w.subscribe(ctx, address, query)
			synctest.Wait()
			if len(r.refused) == 0 {
				return ""
			}
			return blog.Code(fmt.Sprint(r.refused[0].Extensions["code"]))
		}
		ending, end := context.WithCancel(ctx)
		for client := range 8 {
			address := fmt.Sprintf("10.0.%d.1", client)
			for i, want := range []blog.Code{"", "", blog.LimitExceeded} {
				if got := open(ending, address, query(10*client+i)); got != want {
					t.Errorf("client %d, stream %d: %q", client, i, got)
				}
			}
		}
		if got := open(ctx, "10.1.0.1", query(100)); got != blog.Overloaded {
			t.Errorf("without memory: %q", got)
		}
		end()
		synctest.Wait()
		if p := w.places; p.bytes != 0 || len(p.clients)+len(p.documents) != 0 {
			t.Errorf("all have ended: %+v", p)
		}
		for n := range 19 { // 19 * 48 KiB and 10 KiB are 922 of 928
			if got := open(ctx, fmt.Sprintf("10.2.%d.1", n), query(0)); got != "" {
				t.Errorf("stream %d with an equal document: %q", n, got)
			}
		}
	})
}
