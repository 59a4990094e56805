package chores

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"cosmosblog/store/cosmos"
)

// Task is the next pass of a pending sweep, deletion or purge.
type Task struct {
	ID   string // of the user or post
	ETag string // of the pending work
	Last bool   // it must wait until all commands that began before the pass before have ended
	Pass Pass

	// Finish records the end of a pass without an error, and may be repeated. charge is what the pass
	// was charged in RU.
	Finish func(ctx context.Context, ended *Progress, charge float64) error

	item string // id of the pending work
}

// SweepTasks returns the tasks of all pending sweeps, in no order.
func (c *Chores) SweepTasks(ctx context.Context) (tasks []Task, err error) {
	sweeps, err := c.Sweeps(ctx)
	for _, sweep := range sweeps {
		tasks = append(tasks, Task{
			sweep.UserID, sweep.ETag, sweep.Last, c.SweepPass(sweep),
			func(ctx context.Context, _ *Progress, charge float64) error {
				return c.FinishSweepPass(ctx, sweep, charge)
			},
			sweep.ID,
		})
	}
	return tasks, err
}

// DeletionTasks returns the tasks of all pending deletions, in no order. Last passes are repeated
// until one finds nothing. They also find deleted items without a ttl, so a deletion ends only
// after these are projected.
func (c *Chores) DeletionTasks(ctx context.Context) (tasks []Task, err error) {
	deletions, err := c.Deletions(ctx)
	for _, deletion := range deletions {
		tasks = append(tasks, Task{
			deletion.UserID, deletion.ETag, deletion.Last, c.DeletionPass(deletion),
			func(ctx context.Context, ended *Progress, _ float64) error {
				switch {
				case !deletion.Last:
					return c.FinishFirstDeletionPass(ctx, deletion)
				case ended.Changed() == 0:
					return c.FinishDeletion(ctx, deletion)
				}
				return nil
			},
			deletion.ID,
		})
	}
	return tasks, err
}

// PurgeTasks returns the tasks of at most maxPurges pending purges, in no order. One pass for each
// post is enough: a deleted post gets no new comments or likes.
func (c *Chores) PurgeTasks(ctx context.Context) (tasks []Task, err error) {
	purges, err := c.Purges(ctx, maxPurges)
	for _, purge := range purges {
		tasks = append(tasks, Task{
			purge.PostID, purge.ETag, false, c.PurgePass(purge.PostID),
			func(ctx context.Context, _ *Progress, _ float64) error { return c.ForgetPurge(ctx, purge) },
			purge.ID,
		})
	}
	return tasks, err
}

// maxPurges limits the number of pending purges in memory.
const maxPurges = 1000

// Forget deletes the pending work of a task that was set aside, unless the work has changed since.
// The next change of the user or post, or the same one projected again, records the work again.
func (c *Chores) Forget(ctx context.Context, task Task) error {
	return c.forget(ctx, task.item, task.ETag)
}

// forget deletes an item of leases unless it changed since it was read.
func (c *Chores) forget(ctx context.Context, id, etag string) error {
	return unlessRaceLost(cosmos.Delete(ctx, c.leases, id, id, azcore.ETag(etag)))
}

// unlessRaceLost returns the error of a conditional write, or nil if the item has changed or is
// gone: another worker has done the work, or replaced it.
func unlessRaceLost(err error) error {
	if cosmos.IsRaceLost(err) {
		return nil
	}
	return err
}
