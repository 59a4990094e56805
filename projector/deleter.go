package projector

import (
	"context"

	"cosmosblog/store"
)

// deletionsLease is the lease of the deleter: one projector alone deletes.
const deletionsLease = "lease.deletions"

// deleter deletes what deleted users wrote, in passes: at once, and again when every command that may have read the user
// has ended, until nothing is found. What follows from each deletion is the projection deleted's to do, on which the last
// pass so waits.
type deleter struct{ chore }

// step runs the passes that are due and tells whether there were any.
func (d *deleter) step(ctx context.Context) (bool, error) {
	pending, err := d.store.Deletions(ctx)
	if err != nil {
		return false, err
	}
	return passes(d.due(pending), func(deletion store.Deletion) error { return d.pass(ctx, deletion) })
}

// due gives the deletions whose next pass may begin: the first at once, each later one after as long as a command may
// take. The time is counted anew where another projector takes over.
func (d *deleter) due(pending []store.Deletion) []store.Deletion {
	var due []store.Deletion
	listed := make(map[string]bool, len(pending))
	for _, deletion := range pending {
		waited := d.sightings.unchanged(deletion.UserID, deletion.ETag, d.now())
		if deletion.Last && waited < d.deadline {
			listed[deletion.UserID] = true
			continue
		}
		due = append(due, deletion)
	}
	d.sightings.keepOnly(listed) // a last pass that finds something is followed by another: its time begins anew
	return due
}

// pass runs a pass, or a part of one. The deletion of somebody some of whose items do not let it be done is set aside as a
// sweep is.
func (d *deleter) pass(ctx context.Context, deletion store.Deletion) error {
	var found int
	var more bool
	done, err := d.attempts.at(ctx, deletions{}, userChange(deletion.UserID), func() (err error) {
		found, more, err = d.store.Delete(ctx, deletion, d.pace)
		return err
	})
	switch {
	case err != nil || more:
		return err
	case !done:
		return d.store.ForgetDeletion(ctx, deletion)
	}
	d.counts.deletionPasses.Add(1)
	d.logger.Debug("deleted what a user wrote", "user", deletion.UserID, "last", deletion.Last, "found", found)
	switch {
	case !deletion.Last:
		return d.store.FinishFirstPass(ctx, deletion)
	case found == 0:
		return d.finish(ctx, deletion)
	}
	return nil
}

// finish ends a deletion of which nothing is left to delete. Where a reservation or the user does not let that be done, it is set
// aside, too.
func (d *deleter) finish(ctx context.Context, deletion store.Deletion) error {
	done, err := d.attempts.at(ctx, deletions{}, userChange(deletion.UserID), func() error {
		return d.store.FinishDeletion(ctx, deletion)
	})
	if err != nil || done {
		return err
	}
	return d.store.ForgetDeletion(ctx, deletion)
}
