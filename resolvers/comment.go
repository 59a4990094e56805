package resolvers

import (
	"context"

	"cosmosblog/graph"
	"cosmosblog/internal/blog"
)

type commentResolver struct{ *Resolver }

var _ graph.CommentResolver = commentResolver{}

// Post answers Comment.post.
func (r commentResolver) Post(ctx context.Context, comment *blog.Comment) (*blog.Post, error) {
	return r.referenced(ctx, comment.Post)
}

// referenced gives the post behind a reference. A reference comes from a list of comments or likes, and the post was
// looked for before the list was read, so that this costs nothing more. Error: NOT_FOUND.
func (r *Resolver) referenced(ctx context.Context, post *blog.Post) (*blog.Post, error) {
	if post.Loaded() {
		return post, nil
	}
	post, err := r.parent(ctx, post, nil)
	if err == nil && post == nil {
		err = blog.Errorf(blog.NotFound, "There is no such post.")
	}
	return post, err
}
