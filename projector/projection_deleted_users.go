package projector

import (
	"context"

	"cosmosblog/store"
)

// deletedUsers records the deletion of users. The deleter does the rest, so that a user with
// many items does not block the changes behind it.
type deletedUsers struct {
	store *store.Store
	wake  chan<- struct{}
}

func (deletedUsers) Name() string { return "deletions" }

func (deletedUsers) Wants(change store.Change) bool {
	return change.User != nil && change.Deleted && !change.Expires
}

func (d deletedUsers) Project(ctx context.Context, change store.Change) error {
	err := d.store.RecordDeletion(ctx, store.Deletion{
		UserID:   change.User.ID,
		Revision: change.User.Revision,
	})
	if err == nil {
		wakeUp(d.wake)
	}
	return err
}
