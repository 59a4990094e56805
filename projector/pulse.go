package projector

import (
	"sync"
	"time"
)

// pulse tells whether this projector's heartbeats have kept its leases valid. It may be used
// concurrently.
type pulse struct {
	expire time.Duration // the time without a heartbeat after which others may take the leases

	mu    sync.Mutex // guards the fields below
	last  time.Time  // when the latest successful heartbeat began
	lapse int        // the number of times that the leases were not valid
}

// beat notes a heartbeat that began at a time, and has succeeded now. If that took too long, leases
// may have been taken before.
func (p *pulse) beat(begun, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Sub(p.last) >= p.expire {
		p.lapse++
	}
	p.last = begun
}

// lapses returns the number of lapses so far.
func (p *pulse) lapses() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lapse
}

// isAlive reports whether the leases that were taken after a number of lapses are still valid.
func (p *pulse) isAlive(lapse int, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return lapse == p.lapse && now.Sub(p.last) < p.expire
}
