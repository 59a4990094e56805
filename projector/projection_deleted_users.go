package projector

import (
	"context"

	"cosmosblog/store/changefeed"
	"cosmosblog/store/chores"
)

// deletedUsers records a deletion for each deleted user. The chore of deletions deletes the user's
// items, so that a user with many items does not block later changes.
type deletedUsers struct {
	pending *chores.Chores
	wake    chan<- struct{}
}

func (deletedUsers) Name() string { return "deletions" }

func (deletedUsers) Handles(change changefeed.Change) bool {
	return change.User != nil && change.Deleted && !change.Expires
}

func (d deletedUsers) Project(ctx context.Context, change changefeed.Change) error {
	err := d.pending.RecordDeletion(ctx, chores.Deletion{
		UserID:   change.User.ID,
		Revision: change.User.Revision,
	})
	if err == nil {
		wakeUp(d.wake)
	}
	return err
}
