package projector

import (
	"context"

	"cosmosblog/store"
)

// deleted sees to what a deletion leaves to do in posts. It comes after the views: once a post has its ttl, nothing is left
// that shows a projector which was away that the post was there.
type deleted struct {
	store    *store.Store
	recorded chan<- struct{}
}

func (deleted) Name() string { return "deleted" }

func (deleted) concludes() {}

func (deleted) Wants(change store.Change) bool {
	return change.Deleted && !change.Expires && (change.Post != nil || change.Comment != nil)
}

// Project ends a comment, and notes that a post was deleted whose copies are tombstones. The purger does the rest: it takes as
// long as much was said to the post, and what follows from other changes does not wait for it.
func (d deleted) Project(ctx context.Context, change store.Change) error {
	if change.Comment != nil {
		return d.store.ExpireComment(ctx, change.PartitionKey, change.ID)
	}
	err := d.store.RecordPurge(ctx, change.ID)
	if err == nil {
		signal(d.recorded)
	}
	return err
}
