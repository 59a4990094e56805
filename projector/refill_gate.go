package projector

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/semaphore"

	"cosmosblog/store/cosmos"
	"cosmosblog/store/views"
)

// refillGate ensures that concurrent readers of a Projector do not empty the feed. After
// maxRemovals removals, further ones wait until the feed is refilled.
type refillGate struct {
	slots   *semaphore.Weighted // a removal holds one slot, a refill holds all
	removed atomic.Int64        // removals since the last refill
}

func newRefillGate() *refillGate { return &refillGate{slots: semaphore.NewWeighted(maxRemovals)} }

// maxRemovals is a fifth of the margin, so that the feed stays full even if five projectors remove
// copies at the same time.
const maxRemovals = views.FeedMargin / 5

// remove runs a step that removes one copy from the feed, after a refill if one is due. It returns
// the errors of both, except errors of the refill that concern an item. The projection gets such an
// error again, and sets the change aside.
func (g *refillGate) remove(ctx context.Context, step, refill func() error) error {
	for {
		if err := g.slots.Acquire(ctx, 1); err != nil {
			return err
		}
		if g.removed.Add(1) <= maxRemovals {
			defer g.slots.Release(1)
			return step()
		}
		g.slots.Release(1)
		if err := g.refill(ctx, refill); err != nil {
			return err
		}
	}
}

func (g *refillGate) refill(ctx context.Context, refill func() error) error {
	if err := g.slots.Acquire(ctx, maxRemovals); err != nil {
		return err
	}
	defer g.slots.Release(maxRemovals)
	if g.removed.Load() < maxRemovals {
		return nil // another goroutine refilled the feed meanwhile
	}
	if err := refill(); err != nil && !cosmos.IsItemError(err) {
		return err
	}
	g.removed.Store(0)
	return nil
}
