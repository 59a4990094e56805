package projector

import (
	"time"

	"cosmosblog/store/changefeed"
	"cosmosblog/store/schema"
)

// Feeds returns the leases of the feed ranges that this projector works on. Their continuations
// are those of the projected changes, which may be ahead of the checkpoints. Feeds sends no
// requests and is safe for concurrent use.
func (p *Projector) Feeds() []changefeed.Lease {
	var feeds []changefeed.Lease
	for _, w := range p.sortedWorkers() {
		if w.container != "" {
			feeds = append(feeds, w.held.current())
		}
	}
	return feeds
}

// CaughtUp returns the lags of all feed ranges, which are all 0, if this projector works on all of
// them and has just read each to its end. Otherwise it returns nil: Lags then tells. It sends no
// requests and is safe for concurrent use.
func (p *Projector) CaughtUp() (lags []Lag) {
	now, n := p.options.Now(), 0
	for _, w := range p.sortedWorkers() {
		if w.container == "" {
			continue
		}
		if now.Sub(w.held.endReached()) > caughtUpFor+p.options.Poll {
			return nil
		}
		n++
		lease := w.held.current()
		lags = append(lags, Lag{Container: lease.Container, Range: lease.Range, Held: true, Position: lease.Continuation})
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if n < p.feedCount || !p.listedAll {
		return nil
	}
	return lags
}

// caughtUpFor is the time for which a feed that was read to its end counts as caught up, besides
// the interval between two reads.
const caughtUpFor = time.Second

// Missing returns the script that the database lacks and that blocks this projector, or nil. It
// sends no requests and is safe for concurrent use.
func (p *Projector) Missing() *schema.MissingError {
	for _, w := range p.sortedWorkers() {
		if missing := w.missing.Load(); missing != nil {
			return missing
		}
	}
	return nil
}

// History returns the history of the database as of the last listing of the leases. It sends no
// requests and is safe for concurrent use.
func (p *Projector) History() changefeed.History {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.history
}
