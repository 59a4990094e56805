package projector

import (
	"context"
	"errors"

	"cosmosblog/store/changefeed"
	"cosmosblog/store/chores"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/views"
)

// Retry runs all projections of a container on the item of a dead letter, in its current state,
// and then deletes the dead letter. It may run beside projectors, because it writes views with
// the same guards.
//
// A missing item needs no projection. Items expire only after their deletion was projected. If an
// item was deleted by other means, an audit finds its remaining copies.
//
// Errors:
//   - cosmos.IsItemError reports true: the item was refused again, and a dead letter with the
//     new reason exists.
//   - changefeed.ErrDeadLetterChanged: a projector set the item aside again meanwhile.
//   - Any other error is the database's, and the dead letter stays.
func Retry(ctx context.Context, db *cosmos.DB, letter changefeed.DeadLetter) error {
	ctx = cosmos.WithSession(ctx) // reads return what earlier steps wrote
	feeds := changefeed.New(db)
	changes, err := feeds.DeadLetterChanges(ctx, letter)
	if err != nil {
		return err
	}
	r := letterRetry{feeds: feeds, views: views.New(db), pending: chores.New(db), letter: letter}
	for _, change := range changes {
		if err := r.project(ctx, change); err != nil {
			return err
		}
	}
	if !r.renewed {
		err = feeds.DeleteDeadLetter(ctx, letter)
	}
	return errors.Join(append(r.refused, err)...)
}

// letterRetry is one retry of one dead letter.
type letterRetry struct {
	feeds   *changefeed.Feeds
	views   *views.Views
	pending *chores.Chores
	letter  changefeed.DeadLetter
	refused []error
	renewed bool // the dead letter itself was written again
}

func (r *letterRetry) project(ctx context.Context, change changefeed.Change) error {
	if change.Err != nil {
		return r.refuse(ctx, "", change, change.Err)
	}
	if change.User != nil { // a projector that set the user's work aside may be about to delete it
		if err := r.pending.RenewWork(ctx, change.User.ID); err != nil {
			return err
		}
	}
	all := projections(r.views, r.pending, r.letter.Container, newCounts(), newRefillGate(), wakeups{})
	err := inOrder(all, change, func(p projection) (bool, error) {
		return r.attempt(ctx, p.name, change, func() error { return p.project(ctx, change) })
	})
	for _, projection := range all {
		if err == nil && projection.finishes(change) {
			_, err = r.attempt(ctx, projection.name, change, func() error { return projection.finish(ctx) })
		}
	}
	return err
}

// attempt runs a step once and reports whether it succeeded.
func (r *letterRetry) attempt(
	ctx context.Context, projection string, change changefeed.Change, step func() error,
) (bool, error) {
	err := step()
	if err == nil || !cosmos.IsItemError(err) {
		return err == nil, err
	}
	return false, r.refuse(ctx, projection, change, err)
}

func (r *letterRetry) refuse(
	ctx context.Context, projection string, change changefeed.Change, reason error,
) error {
	r.renewed = r.renewed || projection == r.letter.Projection
	r.refused = append(r.refused, reason)
	return r.feeds.WriteDeadLetter(ctx, deadLetter(projection, change, 1, reason))
}

func deadLetter(
	projection string, change changefeed.Change, attempts int, reason error,
) changefeed.DeadLetter {
	return changefeed.DeadLetter{
		Projection:   projection,
		Container:    change.Container,
		PartitionKey: change.PartitionKey,
		ItemID:       change.ID,
		Reason:       reason.Error(),
		Attempts:     attempts,
	}
}
