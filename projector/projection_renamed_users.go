package projector

import (
	"context"

	"cosmosblog/store/changefeed"
	"cosmosblog/store/views"
)

// renamedUsers records the sweeps of renamed users. The sweeper does the rest, so that a user
// with many items does not block the changes behind it.
type renamedUsers struct {
	views *views.Views
	wake  chan<- struct{}
}

func (renamedUsers) Name() string { return "usernames" }

// firstNameRevision is the revision by which a user gets a first username. No item of theirs is
// older.
const firstNameRevision = 2

func (renamedUsers) Wants(change changefeed.Change) bool {
	return change.User != nil && !change.Deleted &&
		change.User.Username != "" && change.User.Revision > firstNameRevision
}

// Project records a sweep. Updates of the user's post count cause changes too: each costs the
// point read by which RecordSweep finds that the last sweep covers it.
//
// A user in the middle of a rename still has the former name. The sweep recorded then covers
// the case that the feed did not show an earlier rename and the current one never ends. It
// starts with the last pass, and so waits for the command deadline.
func (r renamedUsers) Project(ctx context.Context, change changefeed.Change) error {
	err := r.views.RecordSweep(ctx, views.Sweep{
		UserID:         change.User.ID,
		Username:       change.User.Username,
		AuthorRevision: change.User.Revision,
		Last:           change.Renaming,
		ResourceID:     change.ResourceID,
	})
	if err == nil {
		wakeUp(r.wake)
	}
	return err
}
