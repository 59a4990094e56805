package projector

import (
	"context"
	"sync/atomic"
	"time"

	"cosmosblog/store/chores"
	"cosmosblog/store/schema"
)

// chore is a kind of long work, such as the sweeps of renamed users. Projections record it in the
// container leases. Only the holder of the chore's lease works on it, with a runner.
type chore struct {
	projection string                                       // the name under which failing tasks become dead letters
	container  string                                       // of the items by whose ids they become dead letters
	list       func(context.Context) ([]chores.Task, error) // the pending tasks
	forget     func(context.Context, chores.Task) error     // after a task was set aside
	wake       <-chan struct{}                              // signals that a task was recorded
	passes     *atomic.Int64                                // counter of finished passes

	// observations record for how long final passes have waited. They are kept when the lease is
	// lost and between calls of Run or SettleForTests. Only the chore's runner uses them.
	observations observations

	// rests has the times at which the next sweep of a user may begin. It is kept as observations
	// are, and nil if passes do not rest. After a restart, no user rests.
	rests map[string]time.Time
}

// Leases of the chores.
const (
	sweepsLease    = "lease.sweeps"
	deletionsLease = "lease.deletions"
	purgesLease    = "lease.purges"
)

// choreLeases are the ids of the leases that belong to chores. All others belong to feed ranges.
var choreLeases = []string{sweepsLease, deletionsLease, purgesLease}

// newChores returns the chores by the ids of their leases.
func newChores(pending *chores.Chores, wake wakeups, c *counts) map[string]*chore {
	return map[string]*chore{
		sweepsLease: {
			projection: renamedUsers, container: schema.Users, list: pending.SweepTasks, forget: pending.Forget,
			wake: wake.sweeps, passes: &c.sweepPasses, observations: observations{}, rests: map[string]time.Time{},
		},
		deletionsLease: {
			projection: deletedUsers, container: schema.Users, list: pending.DeletionTasks, forget: pending.Forget,
			wake: wake.deletions, passes: &c.deletionPasses, observations: observations{},
		},
		purgesLease: {
			projection: deletedContent, container: schema.Posts, list: pending.PurgeTasks, forget: pending.Forget,
			wake: wake.purges, passes: &c.purges, observations: observations{},
		},
	}
}
