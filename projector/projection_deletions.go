package projector

import (
	"context"

	"cosmosblog/store"
)

// deletions notes that a user was deleted. The deleter does the rest, beside what follows from other changes, as the
// sweeper does.
type deletions struct {
	store    *store.Store
	recorded chan<- struct{}
}

func (deletions) Name() string { return "deletions" }

func (deletions) Wants(change store.Change) bool {
	return change.User != nil && change.Deleted && !change.Expires
}

func (d deletions) Project(ctx context.Context, change store.Change) error {
	err := d.store.RecordDeletion(ctx, store.Deletion{UserID: change.User.ID, Revision: change.User.Revision})
	if err == nil {
		signal(d.recorded)
	}
	return err
}
