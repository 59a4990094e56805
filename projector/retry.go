package projector

import (
	"context"
	"errors"

	"cosmosblog/store"
)

// Retry projects the item of a dead letter, as it stands now, by all projections of its container, and then deletes the
// letter. Of an item that is gone nothing follows: one that ends as it should was projected before. Somebody deleted it
// past the commands, and an audit finds what that left. Retry may run beside projectors, as a late worker may.
//
// Errors: where the item still does not let something be done, what store.ConcernsItem holds of, and there is a letter that says
// so; store.ErrDeadLetterRenewed where the item was set aside again meanwhile; any other is the database's, and the letter stays.
func Retry(ctx context.Context, s *store.Store, letter store.DeadLetter) error {
	ctx = store.WithSession(ctx) // what was written before is seen when it is read again
	changes, err := s.SetAsideItems(ctx, letter)
	if err != nil {
		return err
	}
	r := retry{store: s, letter: letter}
	for _, change := range changes {
		if err := r.project(ctx, change); err != nil {
			return err
		}
	}
	if !r.renewed {
		err = s.DeleteDeadLetter(ctx, letter)
	}
	return errors.Join(append(r.refused, err)...)
}

// retry is one retry of one letter.
type retry struct {
	store   *store.Store
	letter  store.DeadLetter
	refused []error
	renewed bool // the letter itself was written again
}

func (r *retry) project(ctx context.Context, change store.Change) error {
	if change.Err != nil {
		return r.refuse(ctx, "", change, change.Err)
	}
	if change.User != nil { // who has set a sweep or deletion aside may not have forgotten it yet
		if err := r.store.RenewWork(ctx, change.User.ID); err != nil {
			return err
		}
	}
	all := projections(r.store, r.letter.Container, newCounts(), newReserve(), recorded{})
	err := inOrder(all, change, func(p Projection) (bool, error) {
		return r.attempt(ctx, p, change, func() error { return p.Project(ctx, change) })
	})
	for _, projection := range all {
		if finisher, ok := projection.(Finisher); ok && err == nil && finisher.Finishes(change) {
			_, err = r.attempt(ctx, projection, change, func() error { return finisher.Finish(ctx) })
		}
	}
	return err
}

// attempt tries a step once, and tells whether it was done.
func (r *retry) attempt(ctx context.Context, projection Projection, change store.Change, step func() error) (bool, error) {
	err := step()
	if err == nil || !store.ConcernsItem(err) {
		return err == nil, err
	}
	return false, r.refuse(ctx, projection.Name(), change, err)
}

func (r *retry) refuse(ctx context.Context, projection string, change store.Change, reason error) error {
	r.renewed = r.renewed || projection == r.letter.Projection
	r.refused = append(r.refused, reason)
	return r.store.SetAside(ctx, deadLetter(projection, change, 1, reason))
}
