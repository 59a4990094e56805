package projector

import (
	"context"

	"cosmosblog/store/changefeed"
	"cosmosblog/store/views"
)

// userPosts maintains the short copies of posts in the author's partition of users: the view of
// query Q3.
type userPosts struct {
	views  *views.Views
	counts *counts
}

func (userPosts) Name() string { return "userPosts" }

func (userPosts) Handles(change changefeed.Change) bool { return mayChangeViews(change) }

func (u userPosts) Project(ctx context.Context, change changefeed.Change) error {
	written, err := u.views.UserPostView(change.Post.Author.ID).Project(ctx, change.Post)
	if err == nil {
		u.counts.view(u, change, written)
	}
	return err
}

// Group returns the author: their posts have copies in one partition.
func (userPosts) Group(change changefeed.Change) string {
	if change.Deleted {
		return ""
	}
	return change.Post.Author.ID
}

func (u userPosts) ProjectGroup(ctx context.Context, changes []changefeed.Change) ([]string, error) {
	return projectGroup(ctx, u, u.counts, u.views.UserPostView(changes[0].Post.Author.ID), changes)
}
