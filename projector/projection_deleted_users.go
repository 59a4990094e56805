package projector

import (
	"context"

	"cosmosblog/store/changefeed"
	"cosmosblog/store/views"
)

// deletedUsers records the deletion of users. The deleter does the rest, so that a user with
// many items does not block the changes behind it.
type deletedUsers struct {
	views *views.Views
	wake  chan<- struct{}
}

func (deletedUsers) Name() string { return "deletions" }

func (deletedUsers) Wants(change changefeed.Change) bool {
	return change.User != nil && change.Deleted && !change.Expires
}

func (d deletedUsers) Project(ctx context.Context, change changefeed.Change) error {
	err := d.views.RecordDeletion(ctx, views.Deletion{
		UserID:   change.User.ID,
		Revision: change.User.Revision,
	})
	if err == nil {
		wakeUp(d.wake)
	}
	return err
}
