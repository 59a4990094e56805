package projector

import (
	"context"

	"cosmosblog/store"
)

// usernames notes that a user was renamed. The sweeper does the rest: it takes as long as the user has written much, and
// what follows from other changes does not wait for it.
type usernames struct {
	store    *store.Store
	recorded chan<- struct{}
}

func (usernames) Name() string { return "usernames" }

// A user's first name is theirs with the second revision, and nothing of theirs is older than it.
const firstNameRevision = 2

func (usernames) Wants(change store.Change) bool {
	return change.User != nil && !change.Deleted && change.User.Username != "" && change.User.Revision > firstNameRevision
}

// Project records a sweep. A user whose posts were counted comes again as they were: that costs the point read by which
// RecordSweep finds their last one. A user who is in the middle of a rename has their former name still: its sweep is for the
// case that an earlier rename was not seen on its own and this one never ends, and so waits for the last pass.
func (u usernames) Project(ctx context.Context, change store.Change) error {
	err := u.store.RecordSweep(ctx, store.Sweep{
		UserID:         change.User.ID,
		Username:       change.User.Username,
		AuthorRevision: change.User.Revision,
		Last:           change.Renaming,
		ResourceID:     change.ResourceID,
	})
	if err == nil {
		signal(u.recorded)
	}
	return err
}
