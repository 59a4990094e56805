package projector

import (
	"context"

	"cosmosblog/store/views"
)

// deletionsLease is the lease of the deleter: only its holder deletes.
const deletionsLease = "lease.deletions"

// deleter deletes the posts, comments and likes of deleted users, in passes. The first pass
// runs at once. Later passes run after every command that may have read the user has ended,
// until a pass finds nothing. The projection deletedContent follows up each deletion, so the
// last pass waits for it.
type deleter struct{ chore }

// step runs the passes that are due and reports whether there were any.
func (d *deleter) step(ctx context.Context) (bool, error) {
	pending, err := d.views.Deletions(ctx)
	if err != nil {
		return false, err
	}
	return runPasses(d.due(pending), func(deletion views.Deletion) error {
		return d.pass(ctx, deletion)
	})
}

// due returns the deletions whose next pass may begin. The first pass is due at once, each
// later one when the command deadline has passed. After another projector takes over, that wait
// starts again.
func (d *deleter) due(pending []views.Deletion) []views.Deletion {
	var due []views.Deletion
	waiting := make(map[string]bool, len(pending))
	for _, deletion := range pending {
		waited := d.observations.unchangedFor(deletion.UserID, deletion.ETag, d.now())
		if deletion.Last && waited < d.deadline {
			waiting[deletion.UserID] = true
			continue
		}
		due = append(due, deletion)
	}
	d.observations.retain(waiting) // a last pass that finds items is followed by another full wait
	return due
}

// pass runs one pass over the items of a user, or a part of it. If the deletion of an item is
// refused, the user's deletion is set aside, as a sweep is.
func (d *deleter) pass(ctx context.Context, deletion views.Deletion) error {
	var found int
	var more bool
	done, err := d.retrier.do(ctx, deletedUsers{}, userChange(deletion.UserID), func() (err error) {
		found, more, err = d.views.Delete(ctx, deletion, d.pace)
		return err
	})
	switch {
	case err != nil || more:
		return err
	case !done:
		return d.views.ForgetDeletion(ctx, deletion)
	}
	d.counts.deletionPasses.Add(1)
	d.logger.Debug("deleted a user's items",
		"user", deletion.UserID, "last", deletion.Last, "found", found)
	switch {
	case !deletion.Last:
		return d.views.FinishFirstPass(ctx, deletion)
	case found == 0:
		return d.finish(ctx, deletion)
	}
	return nil
}

// finish ends a deletion whose last pass found nothing. If the write of the user item or of a
// reservation is refused, the deletion is set aside.
func (d *deleter) finish(ctx context.Context, deletion views.Deletion) error {
	done, err := d.retrier.do(ctx, deletedUsers{}, userChange(deletion.UserID), func() error {
		return d.views.FinishDeletion(ctx, deletion)
	})
	if err != nil || done {
		return err
	}
	return d.views.ForgetDeletion(ctx, deletion)
}
