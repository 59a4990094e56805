// Package memorypool shares memory among transfers: the request bodies that arrive, or the answers
// that are made and sent. Slow clients lose their transfer if others need the memory.
package memorypool

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"cosmosblog/blog"
)

// Pool is the memory that all request bodies share while they arrive, or all answers while they are
// made and sent. It may be used concurrently.
//
// When it is used up, the transfers that have held the most memory for the longest are aborted.
// Slow clients lose their transfer, so that nobody has to wait for them. Transfers younger than
// transferTime are not stopped, because those are not slow.
type Pool struct {
	now func() time.Time

	bytes int

	mu      sync.Mutex
	free    int
	garbage int             // bytes of shares that were given back since the last collectGarbage
	moving  map[*Share]bool // whose transfer may be stopped
}

// transferTime is the Retry-After of a rejection, after which there is room again.
const transferTime = time.Second

// New returns a pool of some bytes. now returns the time.
func New(bytes int, now func() time.Time) *Pool {
	return &Pool{now: now, bytes: bytes, free: bytes, moving: map[*Share]bool{}}
}

// collectGarbage runs a collection in the background, unless two run already. runtime.GC returns
// only when all is swept, to which others contribute: on a busy machine that takes a second, and
// the next collection would be late.
func collectGarbage() {
	select {
	case collections <- struct{}{}:
		go func() {
			defer func() { <-collections }()
			runtime.GC()
		}()
	default:
	}
}

var collections = make(chan struct{}, 2)

// collectAfter is the part of the pool after which its garbage is collected, while so much of it is
// held, too. Go lets the heap grow to several times what is live (GOGC), and what slow clients hold
// is live for long: their number would multiply garbage, too. Without slow clients, little is held
// at a time.
const collectAfter = 4

// gaveBack notes that bytes of a share are garbage now. The pool's mutex must be locked.
func (b *Pool) gaveBack(bytes int) {
	if b.garbage += max(bytes, 0); b.garbage < b.bytes/collectAfter || b.bytes-b.free < b.bytes/collectAfter {
		return
	}
	b.garbage = 0
	collectGarbage()
}

// Share is the memory that one transfer holds. The pool's mutex guards its fields.
type Share struct {
	pool    *Pool
	begun   time.Time
	stop    func() // makes the transfer fail; returns at once
	stopped bool
	held    int // bytes of memory
	sent    int // bytes of them that the client has received

	written   int  // bytes of the answer
	unwritten bool // there was no room for the answer

	read     atomic.Int64 // bytes that an operation has read for its answer
	overfull atomic.Bool  // there was no room for bytes that the operation has read
}

// Open returns the empty share of a transfer. The caller must close it before stop becomes invalid.
func (b *Pool) Open(stop func()) *Share {
	s := b.Hold()
	s.Transfer(stop)
	return s
}

// Hold returns an empty share. The caller must close it.
func (b *Pool) Hold() *Share { return &Share{pool: b} }

// Transfer begins the transfer of a share. From now on, it may be stopped.
func (s *Share) Transfer(stop func()) {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	s.begun, s.stop = s.pool.now(), stop
	s.pool.moving[s] = true
}

// An operation that reads some bytes needs them twice: as they arrive and decoded. The data of an
// answer is appended to a buffer that doubles, and then copied into the answer.
const readFactor, dataFactor = 2, 3

// Small is the number of bytes up to which an answer does not count. The buffers of connections
// hold most of those.
const Small = 64 << 10

// mostRead is the maximum that an operation is counted for what it reads, so that one that reads
// more than its answer can hold does not keep all others from theirs.
const mostRead = dataFactor * blog.MaxAnswerBytes

// Take implements request.Memory. Operations that need less than Small are not counted.
func (s *Share) Take(bytes int) bool {
	needed := int(min(s.read.Add(int64(bytes))*readFactor, mostRead))
	if needed <= Small {
		return true
	}
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	if needed > s.held && !s.hasRoom(needed) {
		s.overfull.Store(true)
		return false
	}
	return true
}

// HasRead returns the number of bytes that the operation has taken.
func (s *Share) HasRead() int { return int(s.read.Load()) }

// IsOverfull reports whether there was no room for something that the operation has read.
func (s *Share) IsOverfull() bool { return s.overfull.Load() }

// Resize makes a share hold some bytes. It returns false, and changes nothing, if there is no room.
func (s *Share) Resize(bytes int) bool {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	return s.hasRoom(bytes)
}

// Write implements request.Memory. Answers of up to Small bytes are not counted.
func (s *Share) Write(bytes int) bool {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	if s.written += bytes; s.written <= Small {
		return true
	}
	s.unwritten = s.unwritten || !s.hasRoom(max(s.held, dataFactor*s.written))
	return !s.unwritten
}

// IsUnwritten reports whether there was no room for the answer, whose data is therefore incomplete.
func (s *Share) IsUnwritten() bool {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	return s.unwritten
}

// ResizeForData makes a share hold what the data of an answer, and the answer, take. It returns
// false, and changes nothing, if there is no room.
func (s *Share) ResizeForData(bytes int) bool { return s.Resize(dataFactor * bytes) }

// hasRoom makes a share hold some bytes if there is room. The pool's mutex must be locked.
func (s *Share) hasRoom(bytes int) bool {
	more := bytes - s.held
	if s.stopped || more > 0 && !s.pool.makeRoom(more, s) {
		return false
	}
	s.pool.free -= more
	s.held = bytes
	s.pool.gaveBack(-more)
	return true
}

// Grow adds bytes to a share. It returns false if there is no room, even without slow transfers.
func (s *Share) Grow(bytes int) bool {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	return s.hasRoom(s.held + bytes)
}

// makeRoom stops slow transfers, except one, until bytes are free. If that is impossible, it stops
// none and returns false.
func (b *Pool) makeRoom(bytes int, except *Share) bool {
	if b.free >= bytes {
		return true
	}
	now, reachable := b.now(), b.free
	slow := map[*Share]float64{} // costs in byte-seconds
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
		var worst *Share
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

// Progress records bytes that the client has received.
func (s *Share) Progress(bytes int) {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	s.sent += bytes
}

// Arrived ends the transfer of a share and keeps its memory. It returns false if it was stopped.
func (s *Share) Arrived() bool {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	delete(s.pool.moving, s)
	return !s.stopped
}

// Close returns the memory to the pool. Afterwards, stop is not called. It may be called twice.
func (s *Share) Close() {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	s.end()
}

// end returns the memory. The pool's mutex must be locked.
func (s *Share) end() {
	s.pool.free += s.held
	s.pool.gaveBack(s.held)
	s.held = 0
	delete(s.pool.moving, s)
}
