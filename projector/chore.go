package projector

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"cosmosblog/store/changefeed"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

// chore is a kind of long work, such as the sweeps of renamed users. Projections record it in the
// container leases. Only the holder of the chore's lease works on it, with a runner.
type chore struct {
	leaseID    string
	projection string                                // the name under which failing tasks become dead letters
	list       func(context.Context) ([]task, error) // the pending tasks
	wake       <-chan struct{}                       // signals that a task was recorded
	passes     *atomic.Int64                         // counter of finished passes

	// observations record for how long final passes have waited. They are kept when the lease is
	// lost and between calls of Run or SettleForTests. Only the chore's runner uses them.
	observations observations

	// rests has the times at which the next sweep of a user may begin. It is kept as observations
	// are, and nil if passes do not rest. After a restart, no user rests.
	rests map[string]time.Time
}

// task is the next pass of pending work for one user or post.
type task struct {
	id     string            // of the user or post
	etag   string            // of the pending work
	last   bool              // a last pass waits for Options.SettleTime; others for the end of a rest
	change changefeed.Change // becomes a dead letter if a step fails because of an item

	isPending func(ctx context.Context) (bool, error) // whether the work still has the etag; nil for always

	open   func() views.Pass
	finish func(ctx context.Context, ended *run) error // after the pass; must be idempotent
	forget func(ctx context.Context) error             // after the task was set aside
}

// Leases of the chores.
const (
	sweepsLease    = "lease.sweeps"
	deletionsLease = "lease.deletions"
	purgesLease    = "lease.purges"
)

// choreLeases are the ids of the leases that belong to chores. All others belong to feed ranges.
var choreLeases = []string{sweepsLease, deletionsLease, purgesLease}

// newChores returns the chores, one for each of choreLeases.
func newChores(v *views.Views, wake wakeups, c *counts) []*chore {
	return []*chore{
		{
			leaseID:      sweepsLease,
			projection:   renamedUsers{}.Name(),
			list:         sweepTasks(v),
			wake:         wake.sweeps,
			passes:       &c.sweepPasses,
			observations: observations{},
			rests:        map[string]time.Time{},
		},
		{
			leaseID:      deletionsLease,
			projection:   deletedUsers{}.Name(),
			list:         deletionTasks(v),
			wake:         wake.deletions,
			passes:       &c.deletionPasses,
			observations: observations{},
		},
		{
			leaseID:      purgesLease,
			projection:   deletedContent{}.Name(),
			list:         purgeTasks(v),
			wake:         wake.purges,
			passes:       &c.purges,
			observations: observations{},
		},
	}
}

// choreOf returns the chore of a lease, or nil if the lease belongs to a feed range.
func (p *Projector) choreOf(leaseID string) *chore {
	i := slices.IndexFunc(p.chores, func(c *chore) bool { return c.leaseID == leaseID })
	if i < 0 {
		return nil
	}
	return p.chores[i]
}

func isPending(v *views.Views, id, etag string) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) { return v.IsPending(ctx, id, etag) }
}

// tasksOf returns a function that lists pending work, and returns the task of each.
func tasksOf[Work any](
	list func(context.Context) ([]Work, error), taskOf func(Work) task,
) func(context.Context) ([]task, error) {
	return func(ctx context.Context) ([]task, error) {
		pending, err := list(ctx)
		tasks := make([]task, len(pending))
		for i, work := range pending {
			tasks[i] = taskOf(work)
		}
		return tasks, err
	}
}

// userChange returns the change of a user item, under which the user's tasks are set aside.
func userChange(userID string) changefeed.Change {
	return changefeed.Change{Container: schema.Users, PartitionKey: userID, ID: userID}
}
