package command

import (
	"context"
	"time"

	"cosmosblog/projector"
	"cosmosblog/store"
)

// settleInterval is the time between two looks at whether all views are made. A projector writes its checkpoints at
// least as often as it renews its leases.
const (
	settleInterval = 200 * time.Millisecond
	settleRenew    = time.Second

	settlePage = 1000 // changes, of which few lead to anything: comments and likes are only passed over
)

// makeViews runs a projector until all views follow their sources. Others may be at work too: they share it.
func makeViews(ctx context.Context, task Task, database *Database) error {
	p, err := projector.New(settleOptions(database, task))
	if err != nil {
		return err
	}
	ctx, stop := Start(ctx, "projector", p.Run)
	defer stop()
	for {
		settled, err := isSettled(ctx, database.Store)
		if settled || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(settleInterval):
		}
	}
}

// settleOptions hurries, but for the time that commands have: others may use a data folder through the process that owns
// it, and so may have read an older username.
func settleOptions(database *Database, task Task) projector.Options {
	options := projectorOptions(database, task)
	options.Renew = settleRenew
	options.PageSize = settlePage
	return options
}

// isSettled tells whether every change was projected: each checkpoint is at the end of its feed, and no sweep and no
// deletion is left.
func isSettled(ctx context.Context, s *store.Store) (bool, error) {
	leases, err := s.Leases(ctx)
	if err != nil {
		return false, err
	}
	for _, container := range []string{store.UsersContainer, store.PostsContainer} {
		ranges, err := s.FeedRanges(ctx, container)
		if err != nil {
			return false, err
		}
		for _, r := range ranges {
			if settled, err := isProjected(ctx, s, container, r, leases); !settled || err != nil {
				return false, err
			}
		}
	}
	sweeps, err := s.Sweeps(ctx)
	if len(sweeps) > 0 || err != nil {
		return false, err
	}
	deletions, err := s.Deletions(ctx)
	return len(deletions) == 0, err
}

// isProjected tells whether a feed range has a lease, and nothing behind its checkpoint.
func isProjected(ctx context.Context, s *store.Store, container string, r store.FeedRange, leases []store.Lease) (bool, error) {
	leased := false
	for _, lease := range leases {
		if lease.Container != container || !lease.Range.Overlaps(r) {
			continue
		}
		page, err := s.Changes(ctx, container, lease.Range, lease.Continuation, 1)
		if err != nil || len(page.Changes) > 0 {
			return false, err
		}
		leased = true
	}
	return leased, nil
}
