package projector

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"cosmosblog/blog"
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

// A user's next sweep begins after a rest, so that renames in a row share a sweep. On average, the
// sweeps of one user are charged restRate at most, unless the rest would be longer than maxRest.
const (
	minRest  = 2 * time.Second
	maxRest  = 5 * time.Minute
	restRate = 100 // RU/s
)

// rest lets a user rest from now on, after a pass that was charged some RU and ended or was
// replaced. A rest that lasts longer stays.
func (c *chore) rest(id string, charge float64, now time.Time) {
	d := min(max(time.Duration(charge/restRate*float64(time.Second)), minRest), maxRest)
	if end := now.Add(d); c.rests != nil && end.After(c.rests[id]) {
		c.rests[id] = end
	}
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
	return []*chore{{
		leaseID: sweepsLease, projection: renamedUsers{}.Name(), list: sweepTasks(v),
		wake: wake.sweeps, passes: &c.sweepPasses, observations: observations{},
		rests: map[string]time.Time{},
	}, {
		leaseID: deletionsLease, projection: deletedUsers{}.Name(), list: deletionTasks(v),
		wake: wake.deletions, passes: &c.deletionPasses, observations: observations{},
	}, {
		leaseID: purgesLease, projection: deletedContent{}.Name(), list: purgeTasks(v),
		wake: wake.purges, passes: &c.purges, observations: observations{},
	}}
}

// isUnknown reports whether a lease belongs to a chore that only another version of the projector
// has. During an upgrade, versions run side by side. The lease of a rebuild is known to projectors
// that can rebuild.
func (p *Projector) isUnknown(lease changefeed.Lease) bool {
	if isOfRebuild(lease) {
		return p.options.Rebuild == nil
	}
	return lease.Container == "" && !slices.Contains(choreLeases, lease.ID)
}

// choreOf returns the chore of a lease, or nil if the lease belongs to a feed range.
func (p *Projector) choreOf(leaseID string) *chore {
	i := slices.IndexFunc(p.chores, func(c *chore) bool { return c.leaseID == leaseID })
	if i < 0 {
		return nil
	}
	return p.chores[i]
}

// sweepTasks lists the sweeps, which write new usernames to the items of renamed users, in two
// passes. The first pass starts at once, unless the user rests from an earlier sweep. The last pass
// starts after all commands that may have read the former name have ended. Retrying the dead letter
// of a sweep records the sweep again.
func sweepTasks(v *views.Views) func(context.Context) ([]task, error) {
	return tasksOf(v.Sweeps, func(sweep views.Sweep) task {
		return task{
			id: sweep.UserID, etag: sweep.ETag, last: sweep.Last, change: userChange(sweep.UserID),
			isPending: isPending(v, schema.SweepID(sweep.UserID), sweep.ETag),
			open:      func() views.Pass { return v.SweepPass(sweep) },
			finish: func(ctx context.Context, ended *run) error {
				return v.FinishSweepPass(ctx, sweep, ended.meter.Charged())
			},
			forget: func(ctx context.Context) error { return v.ForgetSweep(ctx, sweep) },
		}
	})
}

// deletionTasks lists the deletions, which delete the posts, comments and likes of deleted users.
// The first pass starts at once. Final passes start after all commands that may have read the user
// have ended, and are repeated until one finds nothing. They also find deleted items without a ttl,
// so the deletion ends only after the projection deletedContent has processed all of them.
func deletionTasks(v *views.Views) func(context.Context) ([]task, error) {
	return tasksOf(v.Deletions, func(deletion views.Deletion) task {
		return task{
			id: deletion.UserID, etag: deletion.ETag, last: deletion.Last, change: userChange(deletion.UserID),
			isPending: isPending(v, views.DeletionID(deletion.UserID), deletion.ETag),
			open:      func() views.Pass { return v.DeletionPass(deletion) },
			finish: func(ctx context.Context, ended *run) error {
				switch {
				case !deletion.Last:
					return v.FinishFirstDeletionPass(ctx, deletion)
				case ended.changed == 0:
					return v.FinishDeletion(ctx, deletion)
				}
				return nil
			},
			forget: func(ctx context.Context) error { return v.ForgetDeletion(ctx, deletion) },
		}
	})
}

func isPending(v *views.Views, id, etag string) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) { return v.IsPending(ctx, id, etag) }
}

// maxPurges limits the number of pending purges in memory.
const maxPurges = 1000

// purgeTasks lists the purges, which delete the comments and likes of deleted posts and then set
// the ttl of the posts. One pass for each post is enough: a deleted post gets no new comments or
// likes.
func purgeTasks(v *views.Views) func(context.Context) ([]task, error) {
	list := func(ctx context.Context) ([]views.Purge, error) { return v.Purges(ctx, maxPurges) }
	return tasksOf(list, func(purge views.Purge) task {
		return task{
			id: purge.PostID, etag: purge.ETag, change: postChange(purge.PostID),
			isPending: isPending(v, views.PurgeID(purge.PostID), purge.ETag),
			open:      func() views.Pass { return &purgePass{Pass: v.PurgePass(purge.PostID)} },
			finish:    func(ctx context.Context, _ *run) error { return v.ForgetPurge(ctx, purge) },
			forget:    func(ctx context.Context) error { return v.ForgetPurge(ctx, purge) },
		}
	})
}

func tasksOf[Work any](list func(context.Context) ([]Work, error), taskOf func(Work) task) func(context.Context) ([]task, error) {
	return func(ctx context.Context) ([]task, error) {
		pending, err := list(ctx)
		tasks := make([]task, len(pending))
		for i, work := range pending {
			tasks[i] = taskOf(work)
		}
		return tasks, err
	}
}

// purgePass is a purge that ends without an error if its post is missing.
type purgePass struct {
	views.Pass
	notFound int // the number of reads that did not find the post
}

// maxNotFound is the number of reads, within 1.6 s, after which a missing post counts as gone. By
// then every replica has received older writes.
const maxNotFound = 6

func (p *purgePass) Next(ctx context.Context) ([]views.Step, bool, error) {
	page, done, err := p.Pass.Next(ctx)
	if err != nil && blog.CodeOf(err) == blog.NotFound {
		if p.notFound++; p.notFound == maxNotFound {
			return nil, true, nil
		}
	}
	return page, done, err
}

// userChange returns the change of a user item, under which the user's tasks are set aside.
func userChange(userID string) changefeed.Change {
	return changefeed.Change{Container: schema.Users, PartitionKey: userID, ID: userID}
}

// postChange returns the change of a post item, under which the post's purge is set aside.
func postChange(postID string) changefeed.Change {
	return changefeed.Change{Container: schema.Posts, PartitionKey: postID, ID: postID}
}
