package projector

import (
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"cosmosblog/store"
)

// chore is what the sweeper and the deleter work with: passes over what is recorded of users, some users at a time.
type chore struct {
	store     *store.Store
	now       func() time.Time
	deadline  time.Duration // of commands
	pace      *store.Pace
	attempts  attempts
	logger    *slog.Logger
	sightings sightings
	counts    *counts
}

func (p *Projector) newChore(seen sightings) chore {
	return chore{
		store:     p.options.Store,
		now:       p.options.Now,
		deadline:  p.options.CommandDeadline,
		pace:      p.pace,
		attempts:  p.newAttempts(),
		logger:    p.options.Logger,
		sightings: seen,
		counts:    p.counts,
	}
}

// parallelUsers is how many users a chore works for at a time, so that one who wrote much does not hold up all others.
const parallelUsers = 4

// passes runs the passes that are due and tells whether there were any.
func passes[Due any](due []Due, pass func(Due) error) (bool, error) {
	var group errgroup.Group // what one does not let be done is no reason to break the others off
	group.SetLimit(parallelUsers)
	for _, d := range due {
		group.Go(func() error { return pass(d) })
	}
	return len(due) > 0, group.Wait()
}
