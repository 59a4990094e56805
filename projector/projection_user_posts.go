package projector

import (
	"context"

	"cosmosblog/store"
)

// userPosts maintains the short copies of posts in the author's partition of users: the view of
// query Q3.
type userPosts struct {
	store  *store.Store
	counts *counts
}

func (userPosts) Name() string { return "userPosts" }

func (userPosts) Wants(change store.Change) bool { return mayChangeViews(change) }

func (u userPosts) Project(ctx context.Context, change store.Change) error {
	written, err := u.store.ProjectUserPost(ctx, change.Post)
	if err == nil {
		u.counts.view(u, change, written)
	}
	return err
}

// mayChangeViews reports whether a change is one of a post without a ttl. A post gets its ttl
// as the last step of its deletion, after its views are done.
func mayChangeViews(change store.Change) bool { return change.Post != nil && !change.Expires }
