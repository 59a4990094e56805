package projector

import (
	"context"

	"cosmosblog/store"
)

// userPosts keeps the short copies of posts in their author's partition of users: the view of Q3.
type userPosts struct {
	store  *store.Store
	counts *counts
}

func (userPosts) Name() string { return "userPosts" }

func (userPosts) Wants(change store.Change) bool { return isCurrentPost(change) }

func (u userPosts) Project(ctx context.Context, change store.Change) error {
	written, err := u.store.ProjectUserPost(ctx, change.Post)
	if err == nil {
		u.counts.view(u, change, written)
	}
	return err
}

// isCurrentPost holds for a post whose views may have to follow: one with a ttl was deleted, and all is done.
func isCurrentPost(change store.Change) bool { return change.Post != nil && !change.Expires }
