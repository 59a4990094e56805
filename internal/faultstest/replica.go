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
)

// Replica simulates a database with a follower that lags some writes behind. The follower
// answers reads, unless the session token of a read names a later state; the leader then answers
// it.
//
// Leader and follower are engines with the same key. Every write is sent to both in the same
// order, so both go through the same states with the same etags and LSNs.
//
// A Replica may be used concurrently. Writes run one after the other.
type Replica struct {
	leader, follower http.Handler

	mu     sync.Mutex
	random *rand.Rand
	lag    int  // maximum number of writes that the follower lags; 0 reads from the leader
	held   bool // the follower receives nothing
	log    []*http.Request

	stale int // number of reads that the follower answered while it lagged
}

// NewReplica returns a Replica. leader and follower must be equal; the follower must be empty.
func NewReplica(leader, follower http.Handler, random *rand.Rand) *Replica {
	return &Replica{leader: leader, follower: follower, random: random}
}

// Lag sets the maximum number of writes that the follower lags. With 0, it catches up.
func (r *Replica) Lag(writes int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lag = writes
	r.follow(0)
}

// Hold holds the follower back: it receives nothing and answers reads from its present state until
// CatchUp is called, also between the requests of clients.
func (r *Replica) Hold() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held = true
}

// CatchUp sends all outstanding writes to the follower and ends Hold.
func (r *Replica) CatchUp() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held = false
	r.follow(0)
}

// Stale returns the number of reads that were answered from an older state.
func (r *Replica) Stale() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stale
}

// ServeHTTP handles a request of the REST protocol.
func (r *Replica) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if request.Header.Get("X-Ms-Activity-Id") == "" {
		// The engine would generate one from the counter that also generates etags.
		request = request.Clone(request.Context())
		request.Header.Set("X-Ms-Activity-Id", "a test")
	}
	switch {
	case !isRead(request):
		r.write(w, request)
	case !isOfItems(request) || !r.readBehind(w, request):
		r.leader.ServeHTTP(w, request)
	}
}

// write sends a write to the leader and queues it for the follower. Cancellation of the request
// does not stop it, so both apply it completely or not at all.
func (r *Replica) write(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	clone := func() *http.Request {
		copied := request.Clone(context.WithoutCancel(request.Context()))
		copied.Body, copied.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		return copied
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	answer := httptest.NewRecorder()
	r.leader.ServeHTTP(answer, clone())
	body = withoutDeadline(body, answer.Body.Bytes())
	r.log = append(r.log, clone())
	r.follow(r.lag)
	forward(w, answer)
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
	for !r.held && len(r.log) > behind {
		r.follower.ServeHTTP(httptest.NewRecorder(), r.log[0])
		r.log = r.log[1:]
	}
}

// readBehind answers a read from the follower. It returns false if the follower lags behind the
// session.
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
	if len(r.log) == 0 {
		return false
	}
	r.follow(r.random.IntN(len(r.log) + 1))
	response := httptest.NewRecorder()
	r.follower.ServeHTTP(response, request)
	if response.Code == http.StatusNotFound && response.Header().Get("X-Ms-Substatus") == "1002" {
		request.Body = io.NopCloser(bytes.NewReader(body))
		return false
	}
	if len(r.log) > 0 {
		r.stale++
	}
	forward(w, response)
	return true
}

func forward(w http.ResponseWriter, response *httptest.ResponseRecorder) {
	for name, values := range response.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(response.Code)
	if _, err := w.Write(response.Body.Bytes()); err != nil {
		panic(fmt.Sprint("faultstest: writing a response: ", err))
	}
}
