package projector

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/semaphore"

	"cosmosblog/store"
)

// reserve keeps the deletions that all readers of a Projector take from the feed at the same time from emptying it: after a few, the
// feed is filled again, and the others wait for that.
type reserve struct {
	places *semaphore.Weighted // one is held while a copy is taken from the feed, and all while that is filled again
	taken  atomic.Int64        // since then
}

func newReserve() *reserve { return &reserve{places: semaphore.NewWeighted(mostTaken)} }

// mostTaken is so small that several projectors leave the feed as much as it shows.
const mostTaken = store.FeedMargin / 5

// take has a copy taken from the feed. Error: that of take, or of refill where it has nothing to do with an item: otherwise who
// finishes the page tells it.
func (r *reserve) take(ctx context.Context, take, refill func() error) error {
	for {
		if err := r.places.Acquire(ctx, 1); err != nil {
			return err
		}
		if r.taken.Add(1) <= mostTaken {
			defer r.places.Release(1)
			return take()
		}
		r.places.Release(1)
		if err := r.refill(ctx, refill); err != nil {
			return err
		}
	}
}

func (r *reserve) refill(ctx context.Context, refill func() error) error {
	if err := r.places.Acquire(ctx, mostTaken); err != nil {
		return err
	}
	defer r.places.Release(mostTaken)
	if r.taken.Load() < mostTaken {
		return nil // somebody was faster
	}
	if err := refill(); err != nil && !store.ConcernsItem(err) {
		return err
	}
	r.taken.Store(0)
	return nil
}
