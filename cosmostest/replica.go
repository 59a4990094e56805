package cosmostest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"time"

	"cosmosblog/engine"
)

// Replica is an account with a follower that lags behind, as the replicas of the service do under
// session consistency. The follower answers reads, unless the session token of a read names a later
// state; the leader then answers it.
//
// Every write is sent to both in the same order and with the same time, so both go through the same
// states with the same etags and session tokens. Writes run one after the other. A Replica may be
// used concurrently. After Account.LoseWrites and Account.Restore, nothing is late, and the methods
// of the Replica change nothing.
type Replica struct {
	leader, follower http.Handler
	reader           http.Handler // the follower, for the reads of clients
	level            func() Consistency
	clock            *replayClock
	rewrite          func(body, answer []byte) []byte // Options.Replay
	pair             *pair                            // nil with Options.Leader

	successor atomic.Pointer[engine.Engine] // answers everything from then on: see lose

	mu     sync.Mutex
	random *rand.Rand
	state  replicaState
	lag    int           // with following: the maximum number of writes that the follower lags
	trail  time.Duration // with trailing: the longest lag of a write
	stays  time.Time     // with trailing: until then, the follower stays where it is
	log    []write       // that the follower lacks

	written  int    // number of writes
	fallenAt int    // number of writes at the last call of FallBehind
	recent   int    // number of writes between the last two calls with a write between them
	stale    int    // number of reads that the follower answered while it lagged
	diverged string // the first write that the follower answered in another way
}

// replicaState determines who answers reads, and when the follower receives writes.
type replicaState int

const (
	following replicaState = iota // the follower answers, and receives some writes with each request
	held                          // the follower answers, and receives nothing
	leading                       // the leader answers, and the follower receives nothing
	trailing                      // either answers, and the follower receives writes as time passes
)

// write is a write that the leader has executed.
type write struct {
	request   *http.Request
	at        time.Time
	outcome   outcome
	container string  // the name of the container whose items it concerns; empty for definitions
	serial    uint64  // of the leader, before the write
	choices   choices // of the leader's scripts
}

// outcome is what leader and follower must have in common.
type outcome struct {
	status        int
	etag, session string // the session token holds the log sequence number
}

func outcomeOf(response *httptest.ResponseRecorder) outcome {
	header := response.Header()
	return outcome{response.Code, header.Get("Etag"), header.Get("X-Ms-Session-Token")}
}

// replayClock is the clock of leader and follower. During a write, it shows the same time to both.
type replayClock struct {
	now func() time.Time
	at  atomic.Pointer[time.Time] // nil between writes
}

// Now returns the time.
func (c *replayClock) Now() time.Time {
	if at := c.at.Load(); at != nil {
		return *at
	}
	return c.now()
}

// during stops the clock at a time while f runs. Only one call may run at a time.
func (c *replayClock) during(at time.Time, f func()) {
	c.at.Store(&at)
	defer c.at.Store(nil)
	f()
}

// Lag sets the maximum number of writes that the follower lags. With 0, it catches up.
func (r *Replica) Lag(writes int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state, r.lag = following, writes
	r.follow(0)
}

// Hold holds the follower back: it receives nothing and answers reads from its present state until
// CatchUp is called, also between the requests of clients.
func (r *Replica) Hold() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state = held
}

// Trail lets the follower lag by random times up to a maximum, also between the requests of
// clients. It stays in one state for a while, and then receives some of the writes. The leader
// answers some of the reads, so that later reads may show earlier states. CatchUp ends it.
func (r *Replica) Trail(most time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state, r.trail = trailing, most
}

// FallBehind is Hold in an older state. The follower lacks at least the writes since the previous
// call, and at most those that it lacked before.
func (r *Replica) FallBehind() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := r.written - r.fallenAt; n > 0 {
		r.recent, r.fallenAt = n, r.written
	}
	if recent := min(r.recent, len(r.log)); recent < len(r.log) {
		r.follow(recent + r.random.IntN(len(r.log)-recent+1))
	}
	r.state = held
}

// Lead makes the leader answer all reads. The follower receives nothing.
func (r *Replica) Lead() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state = leading
}

// CatchUp sends all outstanding writes to the follower and ends Hold, Trail, FallBehind and Lead.
func (r *Replica) CatchUp() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state = following
	r.follow(0)
}

// together calls change while the follower is in the same state as the leader. change may change
// both in the same way.
func (r *Replica) together(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.follow(0)
	change()
}

// stopped calls f while no time passes for leader and follower, and no write arrives. The follower
// has caught up.
func (r *Replica) stopped(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.follow(0)
	r.clock.during(r.clock.now(), f)
}

// latest returns a handler whose reads are answered by the leader.
func (r *Replica) latest() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if request = withActivity(request); isRead(request) {
			r.present().ServeHTTP(w, request)
		} else {
			r.write(w, request)
		}
	})
}

// Stale returns the number of reads that were answered from an older state.
func (r *Replica) Stale() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stale
}

// Diverged describes the first write that the follower answered in another way than the leader: a
// fault of the account. It is empty if there is none. Account.Close reports it.
func (r *Replica) Diverged() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.diverged
}

// ServeHTTP answers a request of the REST protocol.
func (r *Replica) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if successor := r.successor.Load(); successor != nil {
		successor.ServeHTTP(w, request)
		return
	}
	request = withActivity(request)
	if !isRead(request) {
		r.write(w, request)
		return
	}
	if isOfItems(request) {
		if response := r.readBehind(request); response != nil {
			answer(w, response)
			return
		}
	}
	r.present().ServeHTTP(w, request)
}

// present returns the handler that has all writes.
func (r *Replica) present() http.Handler {
	if successor := r.successor.Load(); successor != nil {
		return successor
	}
	return r.leader
}

// withActivity returns a request with an activity id. The engine would generate one from the
// counter that also generates etags.
func withActivity(request *http.Request) *http.Request {
	if request.Header.Get("X-Ms-Activity-Id") != "" {
		return request
	}
	request = request.Clone(request.Context())
	request.Header.Set("X-Ms-Activity-Id", "a test")
	return request
}

// write sends a write to the leader and queues it for the follower. Cancellation of the request
// does not stop it, so both apply it completely or not at all.
func (r *Replica) write(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	response := httptest.NewRecorder()
	if !r.execute(response, request, body) {
		r.present().ServeHTTP(response, copyOf(request, body))
	}
	answer(w, response)
}

// execute executes a write on the leader, and lets the follower receive some writes. The follower
// does not receive a write that the leader throttled, because it has throughput of its own. It
// returns false, and does nothing, if the follower has taken the leader's place.
func (r *Replica) execute(response *httptest.ResponseRecorder, request *http.Request, body []byte) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.successor.Load() != nil {
		return false
	}
	w := write{at: r.clock.now()}
	if r.pair != nil {
		w.serial = r.pair.leader.Serial()
	}
	r.clock.during(w.at, func() { r.leader.ServeHTTP(response, copyOf(request, body)) })
	if r.pair != nil {
		w.choices = r.pair.decisions.take()
	}
	if response.Code == http.StatusTooManyRequests {
		return true
	}
	if r.rewrite != nil {
		body = r.rewrite(body, response.Body.Bytes())
	}
	w.request, w.outcome, w.container = copyOf(request, body), outcomeOf(response), containerNamed(request, response.Header())
	r.log = append(r.log, w)
	r.written++
	switch r.state {
	case following:
		r.follow(r.lag)
	case trailing:
		r.keepUp(w.at)
	}
	return true
}

// copyOf returns a request with another body, which outlives the context of the request.
func copyOf(request *http.Request, body []byte) *http.Request {
	copied := request.Clone(context.WithoutCancel(request.Context()))
	copied.Body, copied.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return copied
}

// follow sends the queued writes to the follower, except the last ones.
func (r *Replica) follow(behind int) {
	for len(r.log) > behind {
		r.replay(r.log[0])
		r.log = r.log[1:]
	}
}

// replay executes a write on the follower.
func (r *Replica) replay(w write) {
	response := httptest.NewRecorder()
	if r.pair != nil {
		r.pair.decisions.give(w.choices)
	}
	r.clock.during(w.at, func() { r.follower.ServeHTTP(response, w.request) })
	if got := outcomeOf(response); r.diverged == "" && got != w.outcome {
		r.diverged = fmt.Sprintf("%s %s: %d %s %s on the leader, %d %s %s on the follower", w.request.Method, w.request.URL.Path,
			w.outcome.status, w.outcome.etag, w.outcome.session, got.status, got.etag, got.session)
	}
}

// keepUp sends the writes to the follower that are too old to be missing, and now and then some
// more.
func (r *Replica) keepUp(now time.Time) {
	young := len(r.log)
	for young > 0 && now.Sub(r.log[len(r.log)-young].at) > r.trail {
		young--
	}
	if !now.Before(r.stays) {
		r.stays = now.Add(time.Duration(r.random.Int64N(max(1, int64(r.trail)))))
		young = r.random.IntN(young + 1)
	}
	r.follow(young)
}

// readBehind lets the follower answer a read. It returns nil if the leader must answer it.
func (r *Replica) readBehind(request *http.Request) *httptest.ResponseRecorder {
	level := r.level()
	if level.ReadsTwoReplicas() {
		return nil
	}
	var body []byte
	if request.Body != nil {
		var err error
		if body, err = io.ReadAll(request.Body); err != nil {
			return nil
		}
		request.Body = io.NopCloser(bytes.NewReader(body))
	}
	if !level.HasSessions() {
		request = request.Clone(request.Context())
		request.Header.Del("X-Ms-Session-Token")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.prepareRead() {
		return nil
	}
	response := httptest.NewRecorder()
	r.reader.ServeHTTP(response, request)
	if response.Code == http.StatusNotFound && response.Header().Get("X-Ms-Substatus") == "1002" {
		request.Body = io.NopCloser(bytes.NewReader(body))
		return nil
	}
	if len(r.log) > 0 && response.Code != http.StatusTooManyRequests {
		r.stale++
	}
	return response
}

// prepareRead lets the follower receive some writes. It reports whether the follower is to answer
// the read.
func (r *Replica) prepareRead() bool {
	switch r.state {
	case following:
		if len(r.log) > 0 {
			r.follow(r.random.IntN(len(r.log) + 1))
		}
	case leading:
		return false
	case trailing:
		r.keepUp(r.clock.now())
		if r.random.IntN(4) == 0 {
			return false
		}
	}
	return len(r.log) > 0
}

// answer writes a recorded response. If the client is gone, it ends the request as net/http does.
func answer(w http.ResponseWriter, response *httptest.ResponseRecorder) {
	maps.Copy(w.Header(), response.Header())
	w.WriteHeader(response.Code)
	if _, err := w.Write(response.Body.Bytes()); err != nil {
		panic(http.ErrAbortHandler)
	}
}
