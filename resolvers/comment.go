package resolvers

import (
	"context"

	"cosmosblog/graph"
	"cosmosblog/internal/blog"
)

type commentResolver struct{ *Resolver }

var _ graph.CommentResolver = commentResolver{}

// Post resolves Comment.post.
func (r commentResolver) Post(ctx context.Context, comment *blog.Comment) (*blog.Post, error) {
	return r.referencedPost(ctx, comment.Post)
}

// referencedPost returns the post of a comment or like. If the comment or like is from a list,
// this sends no request, because the post was read before the list. Error: NOT_FOUND.
func (r *Resolver) referencedPost(ctx context.Context, post *blog.Post) (*blog.Post, error) {
	if post.Loaded() {
		return post, nil
	}
	post, err := r.existingPost(ctx, post, nil)
	if err == nil && post == nil {
		err = blog.Errorf(blog.NotFound, "The post of this comment or like no longer exists.")
	}
	return post, err
}
