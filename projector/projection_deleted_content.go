package projector

import (
	"context"

	"cosmosblog/store/changefeed"
	"cosmosblog/store/chores"
)

// deletedContent completes the deletion of posts and comments, in the end by a ttl. It runs after
// the views are written. If the ttl were set first, the post could expire before its copies become
// tombstones, and they would remain.
type deletedContent struct {
	pending *chores.Chores
	wake    chan<- struct{}
}

func (deletedContent) Name() string { return "deleted" }

func (deletedContent) concludes() {}

func (deletedContent) Handles(change changefeed.Change) bool {
	return change.Deleted && !change.Expires && (change.Post != nil || change.Comment != nil)
}

// Project sets the ttl of a deleted comment and removes its text. It records a purge for a deleted
// post, whose copies are tombstones by now. The chore of purges deletes the comments and likes, so
// that a post with many of them does not block later changes.
func (d deletedContent) Project(ctx context.Context, change changefeed.Change) error {
	if change.Comment != nil {
		return d.pending.ExpireComment(ctx, change.PartitionKey, change.ID, change.Comment.Author.ID)
	}
	err := d.pending.RecordPurge(ctx, change.ID)
	if err == nil {
		wakeUp(d.wake)
	}
	return err
}
