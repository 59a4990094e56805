package projector

import (
	"context"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"cosmosblog/store/changefeed"
	"cosmosblog/store/views"
)

// portions divides a page into parts with at most maxUnfinished changes after which a projection
// has to finish, which it does after each part.
func (r *reader) portions(changes []changefeed.Change) (portions [][]changefeed.Change) {
	begin := 0
	for end, n := 1, 0; end < len(changes); end++ {
		if anyFinishes(r.projections, changes[end-1]) {
			n++
		}
		if n == maxUnfinished {
			portions = append(portions, changes[begin:end])
			begin, n = end, 0
		}
	}
	return append(portions, changes[begin:])
}

// maxUnfinished is the number of deleted posts after which the feed is refilled. After a refill,
// the feed has enough copies for that many deletions.
const maxUnfinished = views.FeedMargin

// project projects changes concurrently, first in groups and then one by one what is left. Then it
// finishes. The changes must be of different items.
func (r *reader) project(ctx context.Context, changes []changefeed.Change) error {
	projected, err := r.projectGroups(ctx, changes)
	if err != nil {
		return err
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(r.parallel)
	for _, change := range changes {
		if change.Err != nil || anyHandles(r.projections, change) {
			group.Go(func() error { return r.projectOne(groupCtx, change, projected) })
		}
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return r.finish(ctx, changes)
}

// projectionOf is a change of an item in one projection.
type projectionOf struct {
	projection   string
	partitionKey string
	id           string
}

// projectGroups projects the changes of each group of which a page has several, and returns those
// that are projected.
func (r *reader) projectGroups(
	ctx context.Context, changes []changefeed.Change,
) (map[projectionOf]bool, error) {
	var mu sync.Mutex // guards all
	all := make(map[projectionOf]bool)
	workers, groupCtx := errgroup.WithContext(ctx)
	workers.SetLimit(r.parallel)
	for _, p := range slices.Backward(r.projections) { // the group of the feed takes longest
		for _, group := range groupsOf(p, changes) {
			workers.Go(func() error {
				ids, err := p.projectGroup(groupCtx, r.retrier.counts, group)
				r.retrier.counts.of(group[0].Container, p.name).projected.Add(int64(len(ids)))
				mu.Lock()
				defer mu.Unlock()
				for _, change := range group {
					if slices.Contains(ids, change.ID) {
						all[projectionOf{p.name, change.PartitionKey, change.ID}] = true
					}
				}
				return err
			})
		}
	}
	err := workers.Wait()
	return all, err
}

// groupsOf returns the groups that have several of the changes.
func groupsOf(p projection, changes []changefeed.Change) (groups [][]changefeed.Change) {
	byName := make(map[string][]changefeed.Change)
	for _, change := range changes {
		if change.Err == nil && p.handles(change) {
			name := p.group(change)
			byName[name] = append(byName[name], change)
		}
	}
	for name, group := range byName {
		if name != "" && len(group) > 1 {
			groups = append(groups, group)
		}
	}
	return groups
}

// projectOne projects one change into the projections that have not projected it yet. A change that
// cannot be decoded is set aside without a retry.
func (r *reader) projectOne(
	ctx context.Context, change changefeed.Change, projected map[projectionOf]bool,
) error {
	if change.Err != nil {
		return r.retrier.setAside(ctx, "", change, 1, change.Err)
	}
	return inOrder(r.projections, change, func(p projection) (bool, error) {
		if projected[projectionOf{p.name, change.PartitionKey, change.ID}] {
			return true, nil
		}
		done, err := r.retrier.do(ctx, p.name, change, func() error { return p.project(ctx, change) })
		if done {
			r.retrier.counts.of(change.Container, p.name).projected.Add(1)
		}
		return done, err
	})
}

// finish finishes each projection that has to after any of the changes. If that fails because of an
// item, the first of these changes is set aside.
func (r *reader) finish(ctx context.Context, changes []changefeed.Change) error {
	for _, projection := range r.projections {
		i := slices.IndexFunc(changes, projection.finishes)
		if i < 0 {
			continue
		}
		_, err := r.retrier.do(ctx, projection.name, changes[i], func() error { return projection.finish(ctx) })
		if err != nil {
			return err
		}
	}
	return nil
}

// latest returns the last change of each item, in the order of the page. The service lists an
// item once in a page, but latest does not rely on that.
func latest(changes []changefeed.Change) []changefeed.Change {
	seen := make(map[[2]string]bool, len(changes))
	kept := make([]changefeed.Change, 0, len(changes))
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
