package views

import (
	"context"

	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// RepairPost projects a post into all of its views at once, and purges it if it is deleted, as the
// projector does. It changes nothing if that is done already. A post that does not exist, or cannot
// be read, is no error.
func (v *Views) RepairPost(ctx context.Context, postID string) error {
	change, err := v.feeds.Change(ctx, schema.Posts, postID, postID)
	if cosmos.IsNotFound(err) || err == nil && change.Post == nil {
		return nil
	}
	if err != nil {
		return err
	}
	for _, view := range v.PostViews(change.Post) {
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
	return v.PurgePost(ctx, postID)
}
