package faultstest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"sync"
	"sync/atomic"
	"time"
)

// Replica simulates a database with a follower that lags behind. The follower answers reads,
// unless the session token of a read names a later state; the leader then answers it.
//
// Leader and follower are engines with the same key. Every write is sent to both in the same
// order, so both go through the same states with the same etags and LSNs. If time passes between
// the two, the follower needs a Clock.
//
// A Replica may be used concurrently. Writes run one after the other.
type Replica struct {
	leader, follower http.Handler
	clock            *Clock

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
	request *http.Request
	at      time.Time
	status  int
	etag    string
}

// NewReplica returns a Replica. leader and follower must be equal; the follower must be empty.
func NewReplica(leader, follower http.Handler, random *rand.Rand) *Replica {
	return &Replica{leader: leader, follower: follower, clock: new(Clock), random: random}
}

// NewReplicaAt is NewReplica for a follower whose engine has the given clock.
func NewReplicaAt(leader, follower http.Handler, clock *Clock, random *rand.Rand) *Replica {
	return &Replica{leader: leader, follower: follower, clock: clock, random: random}
}

// Clock is the clock of a follower. A write that the follower executes late has the date at which
// the leader executed it. The zero Clock shows the present time.
type Clock struct{ at atomic.Int64 }

// Now returns the time.
func (c *Clock) Now() time.Time {
	if at := c.at.Load(); at != 0 {
		return time.Unix(0, at)
	}
	return time.Now()
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

// Together calls change while the follower is in the same state as the leader. change may change
// both in the same way.
func (r *Replica) Together(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.follow(0)
	change()
}

// Latest returns a handler whose reads are answered by the leader.
func (r *Replica) Latest() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if request = withActivity(request); isRead(request) {
			r.leader.ServeHTTP(w, request)
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

// Diverged describes the first write that the follower answered in another way than the leader.
// It is empty if there is none.
func (r *Replica) Diverged() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.diverged
}

// ServeHTTP handles a request of the REST protocol.
func (r *Replica) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	request = withActivity(request)
	switch {
	case !isRead(request):
		r.write(w, request)
	case !isOfItems(request) || !r.readBehind(w, request):
		r.leader.ServeHTTP(w, request)
	}
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
	r.execute(response, request, body)
	answer(w, response)
}

// execute executes a write, and lets the follower receive some writes.
func (r *Replica) execute(response *httptest.ResponseRecorder, request *http.Request, body []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := time.Now()
	r.leader.ServeHTTP(response, copyOf(request, body))
	late := copyOf(request, withoutDeadline(body, response.Body.Bytes()))
	r.log = append(r.log, write{late, at, response.Code, response.Header().Get("Etag")})
	r.written++
	switch r.state {
	case following:
		r.follow(r.lag)
	case trailing:
		r.keepUp(at)
	}
}

// copyOf returns a request with another body, which outlives the context of the request.
func copyOf(request *http.Request, body []byte) *http.Request {
	copied := request.Clone(context.WithoutCancel(request.Context()))
	copied.Body, copied.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return copied
}

var deadline = regexp.MustCompile(`"deadline":[0-9]+`)

// withoutDeadline returns the body of a write for the follower, which executes it later. The
// deadline in it has passed if it had for the leader, and otherwise never passes.
func withoutDeadline(body, answer []byte) []byte {
	to := `"deadline":0`
	if bytes.Contains(answer, []byte(`"TOO_LATE"`)) {
		to = `"deadline":1`
	}
	return deadline.ReplaceAllLiteral(body, []byte(to))
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
	r.clock.at.Store(w.at.UnixNano())
	defer r.clock.at.Store(0)
	response := httptest.NewRecorder()
	r.follower.ServeHTTP(response, w.request)
	if etag := response.Header().Get("Etag"); r.diverged == "" && (response.Code != w.status || etag != w.etag) {
		r.diverged = fmt.Sprintf("%s %s: %d %s on the leader, %d %s on the follower",
			w.request.Method, w.request.URL.Path, w.status, w.etag, response.Code, etag)
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
		r.stays = now.Add(time.Duration(r.random.Int64N(int64(r.trail))))
		young = r.random.IntN(young + 1)
	}
	r.follow(young)
}

// readBehind answers a read from the follower. It returns false if the leader must answer it.
func (r *Replica) readBehind(w http.ResponseWriter, request *http.Request) bool {
	var body []byte
	if request.Body != nil {
		var err error
		if body, err = io.ReadAll(request.Body); err != nil {
			return false
		}
		request.Body = io.NopCloser(bytes.NewReader(body))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.prepareRead() {
		return false
	}
	response := httptest.NewRecorder()
	r.follower.ServeHTTP(response, request)
	if response.Code == http.StatusNotFound && response.Header().Get("X-Ms-Substatus") == "1002" {
		request.Body = io.NopCloser(bytes.NewReader(body))
		return false
	}
	if len(r.log) > 0 {
		r.stale++
	}
	answer(w, response)
	return true
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
		r.keepUp(time.Now())
		if r.random.IntN(4) == 0 {
			return false
		}
	}
	return len(r.log) > 0
}

// answer writes a recorded response.
func answer(w http.ResponseWriter, response *httptest.ResponseRecorder) {
	for name, values := range response.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(response.Code)
	if _, err := w.Write(response.Body.Bytes()); err != nil {
		panic(fmt.Sprint("faultstest: writing a response: ", err))
	}
}
