package httpapi

import (
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"cosmosblog/internal/limits"
)

// budget is the memory that all request bodies share while they arrive, or all answers while they
// are made and sent.
//
// When it is used up, the transfers that have held the most memory for the longest are aborted.
// Slow clients lose their transfer, so that nobody has to wait for them. Transfers younger than
// transferTime are not stopped, because those are not slow.
type budget struct {
	now func() time.Time

	mu     sync.Mutex
	free   int
	moving map[*share]bool // whose transfer may be stopped
}

// transferTime is the Retry-After of a rejection, after which there is room again.
const transferTime = time.Second

func newBudget(bytes int, now func() time.Time) *budget {
	return &budget{now: now, free: bytes, moving: map[*share]bool{}}
}

// share is the memory that one transfer holds. The budget's mutex guards its fields.
type share struct {
	budget  *budget
	begun   time.Time
	stop    func() // makes the transfer fail; returns at once
	stopped bool
	held    int // bytes of memory
	sent    int // bytes of them that the client has received

	read     atomic.Int64 // bytes that an operation has read for its answer
	overfull atomic.Bool  // there was no room for bytes that the operation has read
}

// open returns the empty share of a transfer. The caller must close it before stop becomes invalid.
func (b *budget) open(stop func()) *share {
	s := b.hold()
	s.transfer(stop)
	return s
}

// hold returns an empty share. The caller must close it.
func (b *budget) hold() *share { return &share{budget: b} }

// transfer begins the transfer of a share. From now on, it may be stopped.
func (s *share) transfer(stop func()) {
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	s.begun, s.stop = s.budget.now(), stop
	s.budget.moving[s] = true
}

// An operation that reads some bytes needs them twice: as they arrive and decoded. The data of an
// answer is appended to a buffer that doubles, and then copied into the answer.
const readFactor, dataFactor = 2, 3

// mostRead is the maximum that an operation is counted for what it reads, so that one that reads
// more than its answer can hold does not keep all others from theirs.
const mostRead = dataFactor * limits.MostAnswerBytes

// Take implements limits.Memory. Operations that need less than smallAnswer are not counted.
func (s *share) Take(bytes int) bool {
	needed := int(min(s.read.Add(int64(bytes))*readFactor, mostRead))
	if needed <= smallAnswer {
		return true
	}
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	if needed > s.held && !s.hasRoom(needed) {
		s.overfull.Store(true)
		return false
	}
	return true
}

// resize makes a share hold some bytes. It returns false, and changes nothing, if there is no room.
func (s *share) resize(bytes int) bool {
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	return s.hasRoom(bytes)
}

// hasRoom makes a share hold some bytes if there is room. The budget's mutex must be locked.
func (s *share) hasRoom(bytes int) bool {
	more := bytes - s.held
	if s.stopped || more > 0 && !s.budget.makeRoom(more, s) {
		return false
	}
	s.budget.free -= more
	s.held = bytes
	return true
}

// grow adds bytes to a share. It returns false if there is no room, even without slow transfers.
func (s *share) grow(bytes int) bool {
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	return s.hasRoom(s.held + bytes)
}

// makeRoom stops slow transfers, except one, until bytes are free. If that is impossible, it stops
// none and returns false.
func (b *budget) makeRoom(bytes int, except *share) bool {
	if b.free >= bytes {
		return true
	}
	now, reachable := b.now(), b.free
	slow := map[*share]float64{} // costs in byte-seconds
	for s := range b.moving {
		if age := now.Sub(s.begun); s != except && s.held > 0 && age >= transferTime {
			slow[s] = float64(s.held-s.sent) * age.Seconds()
			reachable += s.held
		}
	}
	if reachable < bytes {
		return false
	}
	for b.free < bytes {
		var worst *share
		for s, cost := range slow {
			if worst == nil || cost > slow[worst] {
				worst = s
			}
		}
		delete(slow, worst)
		worst.stopped = true
		worst.stop()
		worst.end()
	}
	return true
}

// progress records bytes that the client has received.
func (s *share) progress(bytes int) {
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	s.sent += bytes
}

// arrived ends the transfer of a share and keeps its memory. It returns false if it was stopped.
func (s *share) arrived() bool {
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	delete(s.budget.moving, s)
	return !s.stopped
}

// close returns the memory to the budget. Afterwards, stop is not called. It may be called twice.
func (s *share) close() {
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	s.end()
}

// end returns the memory. The budget's mutex must be locked.
func (s *share) end() {
	s.budget.free += s.held
	s.held = 0
	delete(s.budget.moving, s)
}

// meteredBody is a request body that counts its bytes as they arrive. The Content-Length does not
// count, because a client can declare what it never sends.
type meteredBody struct {
	io.ReadCloser
	*share
}

var errBodyBudget = errors.New("the memory for request bodies is used up")

// Read reads from the body. Errors: errBodyBudget if the budget is used up, and
// os.ErrDeadlineExceeded if the body was stopped.
func (b meteredBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 && !b.grow(n) {
		if !b.arrived() {
			return 0, os.ErrDeadlineExceeded
		}
		return 0, errBodyBudget
	}
	return n, err
}

// Close implements io.Closer. The memory is in use until the share is closed.
func (b meteredBody) Close() error { return b.ReadCloser.Close() }

// meterBody replaces a request's body with a metered one, and returns its share.
func (a *api) meterBody(w http.ResponseWriter, r *http.Request) *share {
	s := a.bodies.open(func() { http.NewResponseController(w).SetReadDeadline(past) })
	r.Body = meteredBody{r.Body, s}
	return s
}

// past is a deadline that stops a transfer.
var past = time.Unix(1, 0)
