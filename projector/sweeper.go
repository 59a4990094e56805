package projector

import (
	"context"

	"cosmosblog/store/changefeed"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

// sweepsLease is the lease of the sweeper: only its holder sweeps.
const sweepsLease = "lease.sweeps"

// sweeper writes new usernames to the items of renamed users, in two passes. The first pass
// runs at once, the second after every command that may have read the former name has ended.
type sweeper struct{ chore }

// step runs the passes that are due and reports whether there were any.
func (s *sweeper) step(ctx context.Context) (bool, error) {
	sweeps, err := s.views.Sweeps(ctx)
	if err != nil {
		return false, err
	}
	return runPasses(s.due(sweeps), func(sweep views.Sweep) error { return s.pass(ctx, sweep) })
}

// due returns the sweeps whose next pass may begin. The first pass is due at once, the last one
// when the sweep was observed unchanged for the command deadline. After another projector takes
// over, that wait starts again.
func (s *sweeper) due(sweeps []views.Sweep) []views.Sweep {
	var due []views.Sweep
	pending := make(map[string]bool, len(sweeps))
	for _, sweep := range sweeps {
		pending[sweep.UserID] = true
		waited := s.observations.unchangedFor(sweep.UserID, sweep.ETag, s.now())
		if !sweep.Last || waited >= s.deadline {
			due = append(due, sweep)
		}
	}
	s.observations.retain(pending)
	return due
}

// pass runs one pass over the items of a user, or a part of it. If the update of an item is
// refused, the sweep is set aside with the user's change after all other items are updated.
// Retrying the dead letter records the sweep again.
func (s *sweeper) pass(ctx context.Context, sweep views.Sweep) error {
	var updated int
	var more bool
	done, err := s.retrier.do(ctx, renamedUsers{}, userChange(sweep.UserID), func() (err error) {
		updated, more, err = s.views.Sweep(ctx, sweep, s.pace)
		return err
	})
	switch {
	case err != nil || more:
		return err
	case !done:
		return s.views.ForgetSweep(ctx, sweep)
	}
	s.logger.Debug("swept a user's items",
		"user", sweep.UserID, "last", sweep.Last, "updated", updated)
	if err = s.views.FinishPass(ctx, sweep); err == nil {
		s.counts.sweepPasses.Add(1)
	}
	return err
}

// userChange returns the change of a user item, under which the user's chores are set aside.
func userChange(userID string) changefeed.Change {
	return changefeed.Change{Container: schema.Users, PartitionKey: userID, ID: userID}
}
