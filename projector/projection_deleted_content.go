package projector

import (
	"context"

	"cosmosblog/store/changefeed"
	"cosmosblog/store/views"
)

// deletedContent follows up the deletion of posts and comments. It runs after the views are
// written: once a post has expired by its ttl, a projector that was away cannot learn that the
// post existed.
type deletedContent struct {
	views *views.Views
	wake  chan<- struct{}
}

func (deletedContent) Name() string { return "deleted" }

func (deletedContent) concludes() {}

func (deletedContent) Wants(change changefeed.Change) bool {
	return change.Deleted && !change.Expires && (change.Post != nil || change.Comment != nil)
}

// Project sets the ttl of a deleted comment, and records the purge of a deleted post, whose
// copies are tombstones by now. The purger does the rest, so that a post with many comments and
// likes does not block the changes behind it.
func (d deletedContent) Project(ctx context.Context, change changefeed.Change) error {
	if change.Comment != nil {
		return d.views.ExpireComment(ctx, change.PartitionKey, change.ID)
	}
	err := d.views.RecordPurge(ctx, change.ID)
	if err == nil {
		wakeUp(d.wake)
	}
	return err
}
