package projector

import (
	"context"
	"errors"
	"slices"

	"golang.org/x/sync/errgroup"

	"cosmosblog/store"
)

// reader reads the changes of one lease and has them projected.
type reader struct {
	store       *store.Store
	held        *heldLease
	projections []Projection
	pageSize    int
	parallel    int
	attempts    attempts
	drained     bool // the last page was short of what may be on one
	succeeded   bool // the lease is to have successors
}

// step reads one page and projects it, then moves the checkpoint. It tells whether there was anything new.
func (r *reader) step(ctx context.Context) (bool, error) {
	ctx = store.WithSession(ctx) // what is read again is no older than the change, and what was written
	r.drained = false
	at := r.held.position()
	page, err := r.store.Changes(ctx, at.Container, at.Range, at.Continuation, r.pageSize)
	switch {
	case errors.Is(err, store.ErrContainerReplaced):
		return r.restart(ctx, at)
	case err != nil:
		return false, err
	case len(page.Changes) == 0:
		return false, nil
	case page.ResourceID != at.ResourceID: // nothing was read of the container before
		return r.restart(ctx, at)
	}
	r.drained = len(page.Changes) < r.pageSize
	for _, changes := range r.portions(latest(page.Changes)) {
		if err := r.project(ctx, changes); err != nil {
			return false, err
		}
	}
	return true, r.held.advance(ctx, page.ResourceID, page.Continuation, len(page.Changes))
}

// portions divides a page so that not too much is left to do for a Finisher at a time.
func (r *reader) portions(changes []store.Change) (portions [][]store.Change) {
	begin := 0
	for end, n := 1, 0; end < len(changes); end++ {
		if wantsFinish(r.projections, changes[end-1]) {
			n++
		}
		if n == mostUnfinished {
			portions = append(portions, changes[begin:end])
			begin, n = end, 0
		}
	}
	return append(portions, changes[begin:])
}

// mostUnfinished is after how many deletions the feed is filled again: one that holds what RefillFeed leaves shows as much
// as it should then.
const mostUnfinished = store.FeedMargin

// restart begins at the beginning of a container that was made anew, and tells whether it could. Where that has other ranges,
// the lease has successors, which begin there: reading on, each of them would read what is another's, for ever.
func (r *reader) restart(ctx context.Context, at store.Lease) (bool, error) {
	d, err := readDivision(ctx, r.store, at.Container)
	if err != nil {
		return false, err
	}
	if !slices.Contains(d.ranges, at.Range) {
		first := !r.succeeded
		r.succeeded = true
		return first, nil // once: there is something to do, and the next look at the leases does it
	}
	r.attempts.logger.Warn("the container was made anew: its changes are read from the beginning",
		"container", at.Container, "before", at.ResourceID, "now", d.resourceID)
	return true, r.held.advance(ctx, d.resourceID, "", r.pageSize)
}

// project projects the changes of a page, those of different items beside one another.
func (r *reader) project(ctx context.Context, changes []store.Change) error {
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(r.parallel)
	for _, change := range changes {
		if change.Err != nil || wants(r.projections, change) {
			group.Go(func() error { return r.projectOne(groupCtx, change) })
		}
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return r.finish(ctx, changes)
}

// finish does what is left to do when the changes of a page are projected. Where an item does not let that be done, one of the changes
// that it is for is set aside.
func (r *reader) finish(ctx context.Context, changes []store.Change) error {
	for _, projection := range r.projections {
		finisher, ok := projection.(Finisher)
		if !ok {
			continue
		}
		i := slices.IndexFunc(changes, finisher.Finishes)
		if i < 0 {
			continue
		}
		_, err := r.attempts.at(ctx, projection, changes[i], func() error { return finisher.Finish(ctx) })
		if err != nil {
			return err
		}
	}
	return nil
}

// projectOne projects one change. What cannot be read is set aside at once: it was read already.
func (r *reader) projectOne(ctx context.Context, change store.Change) error {
	if change.Err != nil {
		return r.attempts.setAside(ctx, "", change, 1, change.Err)
	}
	return inOrder(r.projections, change, func(p Projection) (bool, error) {
		done, err := r.attempts.at(ctx, p, change, func() error { return p.Project(ctx, change) })
		if done {
			r.attempts.counts.of(change.Container, p.Name()).projected.Add(1)
		}
		return done, err
	})
}

// latest gives each item's last change, in the order of the page. A feed shows an item once in a page; this holds also
// where it does not.
func latest(changes []store.Change) []store.Change {
	seen := make(map[[2]string]bool, len(changes))
	kept := make([]store.Change, 0, len(changes))
	for _, change := range slices.Backward(changes) {
		item := [2]string{change.PartitionKey, change.ID}
		if change.ID != "" && seen[item] {
			continue
		}
		seen[item] = true
		kept = append(kept, change)
	}
	slices.Reverse(kept)
	return kept
}
