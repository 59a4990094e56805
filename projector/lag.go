package projector

import (
	"sync/atomic"
	"time"

	"cosmosblog/store"
)

// Lag is how far one feed range is behind.
type Lag struct {
	Lease     string
	Container string
	CaughtUp  bool      // nothing was new when it was looked at last
	Since     time.Time // otherwise: when the oldest change was written that is not projected yet, to the second
}

// Lag tells how far the feed ranges are behind that this projector has a lease of. It may be called at any time.
func (p *Projector) Lag() []Lag {
	p.mu.Lock()
	defer p.mu.Unlock()
	var lags []Lag
	for _, w := range p.workers {
		if w.progress == nil {
			continue
		}
		lag := Lag{Lease: w.id, Container: w.container}
		lag.Since, lag.CaughtUp = w.progress.read()
		lags = append(lags, lag)
	}
	return lags
}

// progress is what a reader tells of itself. A reader that has not read yet is not caught up.
type progress struct{ since atomic.Pointer[time.Time] }

func (p *progress) caughtUp() { p.since.Store(&caughtUp) }

var caughtUp time.Time

func (p *progress) behind(page []store.Change) {
	oldest := page[0].Time
	for _, change := range page {
		if change.Time.Before(oldest) {
			oldest = change.Time
		}
	}
	p.since.Store(&oldest)
}

func (p *progress) read() (since time.Time, isCaughtUp bool) {
	at := p.since.Load()
	if at == nil {
		return time.Time{}, false
	}
	return *at, at == &caughtUp
}
