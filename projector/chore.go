package projector

import (
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"cosmosblog/store"
)

// chore is what the sweeper, the deleter and the purger work with: passes over what is recorded of users or posts, some of
// those at a time.
type chore struct {
	store     *store.Store
	now       func() time.Time
	deadline  time.Duration // of commands
	pace      *store.Pace
	attempts  attempts
	logger    *slog.Logger
	sightings sightings // nil where nothing waits for a time
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

// parallelPasses is how many users or posts a chore works on at a time, so that one of much does not hold up all others.
const parallelPasses = 4

// passes runs the passes that are due and tells whether there were any.
func passes[Due any](due []Due, pass func(Due) error) (bool, error) {
	var group errgroup.Group // what one does not let be done is no reason to break the others off
	group.SetLimit(parallelPasses)
	for _, d := range due {
		group.Go(func() error { return pass(d) })
	}
	return len(due) > 0, group.Wait()
}
