package projector

import (
	"context"

	"cosmosblog/store"
)

// sweepsLease is the lease of the sweeper: one projector alone sweeps.
const sweepsLease = "lease.sweeps"

// sweeper brings new usernames to what renamed users wrote, in two passes: at once, and again when every command that
// may have read the former name has ended.
type sweeper struct{ chore }

// step runs the passes that are due and tells whether there were any.
func (s *sweeper) step(ctx context.Context) (bool, error) {
	sweeps, err := s.store.Sweeps(ctx)
	if err != nil {
		return false, err
	}
	return passes(s.due(sweeps), func(sweep store.Sweep) error { return s.pass(ctx, sweep) })
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

// pass runs a pass, or a part of one. The sweep of somebody some of whose items do not let it be done is set aside, with
// their change, when all others are done; whoever retries that has it recorded anew.
func (s *sweeper) pass(ctx context.Context, sweep store.Sweep) error {
	var updated int
	var more bool
	done, err := s.attempts.at(ctx, usernames{}, userChange(sweep.UserID), func() (err error) {
		updated, more, err = s.store.Sweep(ctx, sweep, s.pace)
		return err
	})
	switch {
	case err != nil || more:
		return err
	case !done:
		return s.store.ForgetSweep(ctx, sweep)
	}
	s.logger.Debug("swept a user's items", "user", sweep.UserID, "last", sweep.Last, "updated", updated)
	if err = s.store.FinishPass(ctx, sweep); err == nil {
		s.counts.sweepPasses.Add(1)
	}
	return err
}

// userChange names a user's change, which what is wrong with their items is set aside with.
func userChange(userID string) store.Change {
	return store.Change{Container: store.UsersContainer, PartitionKey: userID, ID: userID}
}
