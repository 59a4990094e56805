package projector

import (
	"context"

	"cosmosblog/store/changefeed"
	"cosmosblog/store/chores"
)

// renamedUsers records a sweep for each renamed user. The chore of sweeps writes the new username
// to the user's items, so that a user with many items does not block later changes.
type renamedUsers struct {
	pending *chores.Chores
	wake    chan<- struct{}
}

func (renamedUsers) Name() string { return "usernames" }

// firstNameRevision is the revision in which a user gets the first username. The user has no items
// from earlier revisions.
const firstNameRevision = 2

// announcedRevision is the revision in which a user announces the first username. If a later
// revision has no username either, the user announced several, and may have reserved them.
const announcedRevision = 1

func (renamedUsers) Handles(change changefeed.Change) bool {
	switch {
	case change.User == nil || change.Deleted:
		return false
	case change.User.Username == "":
		return change.User.Revision > announcedRevision
	}
	return change.User.Revision > firstNameRevision
}

// Project records a sweep. Updates of the user's post count are changes of the user too. Each costs
// one point read, by which RecordSweep finds the earlier sweep and writes nothing.
//
// Project also records a sweep while a rename is in progress, when the user still has the former
// name. The change feed shows only the latest state, so the change of an earlier, completed rename
// may never have been read, and the current rename may never complete. That sweep has only the
// final pass, which waits for the command deadline.
func (r renamedUsers) Project(ctx context.Context, change changefeed.Change) error {
	err := r.pending.RecordSweep(ctx, chores.Sweep{
		UserID:         change.User.ID,
		Username:       change.User.Username,
		AuthorRevision: change.User.Revision,
		Last:           change.Renaming,
		ResourceID:     change.ResourceID,
		History:        change.History,
	})
	if err == nil {
		wakeUp(r.wake)
	}
	return err
}
