package faults

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
)

// Replica answers reads in a database's place, some writes behind it. A read whose session token names a later state than
// the replica has is answered by the database. Both are engines of one key: the replica is sent every write that the
// database was sent, in the same order, and so goes through the same states, etags and numbers included.
//
// It may be used concurrently. Writes are done one after the other.
type Replica struct {
	leader, follower http.Handler

	mu     sync.Mutex
	random *rand.Rand
	lag    int // at most so many writes is the follower behind; 0 where all is read from the leader
	log    []*http.Request

	stale int // reads that were answered by the follower while it was behind
}

// NewReplica puts a follower, in which nothing was written yet, beside a leader of the same kind.
func NewReplica(leader, follower http.Handler, random *rand.Rand) *Replica {
	return &Replica{leader: leader, follower: follower, random: random}
}

// Lag says how many writes the replica may be behind from now on. With 0 it catches up.
func (r *Replica) Lag(writes int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lag = writes
	r.follow(0)
}

// CatchUp lets the replica know all that was written until now.
func (r *Replica) CatchUp() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.follow(0)
}

// Stale gives how many reads were answered from an older state.
func (r *Replica) Stale() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stale
}

// ServeHTTP answers one request of the REST protocol.
func (r *Replica) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if request.Header.Get("X-Ms-Activity-Id") == "" { // an engine would make one of the numbers that it makes etags of
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

// write sends a write to the leader and notes it for the follower. A caller that gives up does not stop it, so that both
// do all of it or nothing.
func (r *Replica) write(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	again := func() *http.Request {
		copied := request.Clone(context.WithoutCancel(request.Context()))
		copied.Body = io.NopCloser(bytes.NewReader(body))
		return copied
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.leader.ServeHTTP(w, again())
	r.log = append(r.log, again())
	r.follow(r.lag)
}

// follow sends the follower what it does not know yet, all but the last writes.
func (r *Replica) follow(behind int) {
	for len(r.log) > behind {
		r.follower.ServeHTTP(httptest.NewRecorder(), r.log[0])
		r.log = r.log[1:]
	}
}

// readBehind answers a read by the follower; false where that does not know enough for the session.
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
	answer := httptest.NewRecorder()
	r.follower.ServeHTTP(answer, request)
	if answer.Code == http.StatusNotFound && answer.Header().Get("X-Ms-Substatus") == "1002" {
		request.Body = io.NopCloser(bytes.NewReader(body))
		return false
	}
	if len(r.log) > 0 {
		r.stale++
	}
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.Code)
	if _, err := w.Write(answer.Body.Bytes()); err != nil {
		panic(fmt.Sprint("faults: an answer could not be given: ", err))
	}
	return true
}
