package projector

import (
	"context"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"cosmosblog/store"
)

// sweepsLease is the lease of the sweeper: one projector alone sweeps.
const sweepsLease = "lease.sweeps"

// sweeper brings new usernames to what renamed users wrote, in two passes: at once, and again when every command that
// may have read the former name has ended.
type sweeper struct {
	store     *store.Store
	now       func() time.Time
	deadline  time.Duration // of commands
	parallel  int
	logger    *slog.Logger
	sightings sightings
	counts    *counts
}

// parallelSweeps is how many users are swept at a time, so that one who wrote much does not hold up all others.
const parallelSweeps = 4

// step runs the passes that are due and tells whether there were any.
func (s *sweeper) step(ctx context.Context) (bool, error) {
	sweeps, err := s.store.Sweeps(ctx)
	if err != nil {
		return false, err
	}
	due := s.due(sweeps)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelSweeps)
	for _, sweep := range due {
		group.Go(func() error { return s.pass(ctx, sweep) })
	}
	return len(due) > 0, group.Wait()
}

// due gives the sweeps whose next pass may begin: the first at once, the last after a sweep was seen unchanged for as
// long as a command may take. The time is counted anew where another projector takes over.
func (s *sweeper) due(sweeps []store.Sweep) []store.Sweep {
	var due []store.Sweep
	pending := make(map[string]bool, len(sweeps))
	for _, sweep := range sweeps {
		pending[sweep.UserID] = true
		waited := s.sightings.unchanged(sweep.UserID, sweep.ETag, s.now())
		if !sweep.Last || waited >= s.deadline {
			due = append(due, sweep)
		}
	}
	s.sightings.keepOnly(pending)
	return due
}

func (s *sweeper) pass(ctx context.Context, sweep store.Sweep) error {
	updated, err := s.store.Sweep(ctx, sweep, s.parallel)
	if err != nil {
		return err
	}
	s.logger.Debug("swept a user's items", "user", sweep.UserID, "last", sweep.Last, "updated", updated)
	if err = s.store.FinishPass(ctx, sweep); err == nil {
		s.counts.sweepPasses.Add(1)
	}
	return err
}
