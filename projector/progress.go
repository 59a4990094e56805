package projector

import (
	"sync/atomic"
	"time"

	"cosmosblog/store"
)

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
