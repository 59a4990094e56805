package chores

import (
	"context"

	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// RepairPost does the projector's work for one post: it projects the post into all of its views,
// and purges the post if it is deleted. If that is done already, it changes nothing. A post that
// does not exist or cannot be decoded is no error.
func (c *Chores) RepairPost(ctx context.Context, postID string) error {
	change, err := c.feeds.Change(ctx, schema.Posts, postID, postID)
	if cosmos.IsNotFound(err) || err == nil && change.Post == nil {
		return nil
	}
	if err != nil {
		return err
	}
	for _, view := range c.views.PostViews(change.Post) {
		if change.Expires {
			err = view.WriteTombstone(ctx, change.Post)
		} else {
			_, err = view.Project(ctx, change.Post)
		}
		if err != nil {
			return err
		}
	}
	if !change.Deleted {
		return nil
	}
	return c.PurgePost(ctx, postID)
}
