package projector

import (
	"sync"
	"sync/atomic"

	"cosmosblog/store"
)

// reserve keeps the deletions that all readers of a Projector take from the feed at the same time from emptying it: after a few, the
// feed is filled again, and the others wait for that.
type reserve struct {
	mu    sync.RWMutex // held for reading while a copy is taken from the feed, and while that is filled again
	taken atomic.Int64 // since then
}

// mostTaken is so small that several projectors leave the feed as much as it shows.
const mostTaken = store.FeedMargin / 5

// take has a copy taken from the feed. Error: that of take, or of refill where it has nothing to do with an item: otherwise who
// finishes the page tells it.
func (r *reserve) take(take, refill func() error) error {
	for {
		r.mu.RLock()
		if r.taken.Add(1) <= mostTaken {
			defer r.mu.RUnlock()
			return take()
		}
		r.mu.RUnlock()
		if err := r.refill(refill); err != nil {
			return err
		}
	}
}

func (r *reserve) refill(refill func() error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.taken.Load() < mostTaken {
		return nil // somebody was faster
	}
	if err := refill(); err != nil && !store.ConcernsItem(err) {
		return err
	}
	r.taken.Store(0)
	return nil
}
