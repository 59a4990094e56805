package projector

import (
	"context"

	"cosmosblog/store"
)

// deleted does what a deletion leaves to do in posts. It comes after the views: once a post has its ttl, nothing is left
// that shows a projector which was away that the post was there.
type deleted struct{ store *store.Store }

func (deleted) Name() string { return "deleted" }

func (deleted) concludes() {}

func (deleted) Wants(change store.Change) bool {
	return change.Deleted && !change.Expires && (change.Post != nil || change.Comment != nil)
}

func (d deleted) Project(ctx context.Context, change store.Change) error {
	if change.Comment != nil {
		return d.store.ExpireComment(ctx, change.PartitionKey, change.ID)
	}
	if err := d.store.PurgePost(ctx, change.ID); err != nil {
		return err
	}
	return d.store.ExpirePost(ctx, change.ID)
}
