package projector

import (
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"cosmosblog/store/views"
)

// chore holds the dependencies of the sweeper, the deleter and the purger. Each of them runs
// passes over the pending work of users or posts, several users or posts at a time.
type chore struct {
	views        *views.Views
	now          func() time.Time
	deadline     time.Duration // Options.CommandDeadline
	pace         *views.Throttler
	retrier      retrier
	logger       *slog.Logger
	observations observations // nil if no pass waits for the deadline
	counts       *counts
}

func (p *Projector) newChore(seen observations) chore {
	return chore{
		views:        p.views,
		now:          p.options.Now,
		deadline:     p.options.CommandDeadline,
		pace:         p.pace,
		retrier:      p.newRetrier(),
		logger:       p.options.Logger,
		observations: seen,
		counts:       p.counts,
	}
}

// parallelPasses is the number of users or posts that a chore works on at a time, so that one
// with many items does not block the others.
const parallelPasses = 4

// runPasses runs the passes that are due and reports whether there were any. An error in one
// pass does not cancel the others.
func runPasses[Due any](due []Due, pass func(Due) error) (bool, error) {
	var group errgroup.Group
	group.SetLimit(parallelPasses)
	for _, d := range due {
		group.Go(func() error { return pass(d) })
	}
	return len(due) > 0, group.Wait()
}
