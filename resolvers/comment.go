package resolvers

import (
	"context"

	"cosmosblog/blog"
	"cosmosblog/graph"
)

type commentResolver struct{ *Resolver }

var _ graph.CommentResolver = commentResolver{}

// Content resolves Comment.content. It reads the content of the recent comments of posts. It
// returns nil if the comment was deleted meanwhile.
func (r commentResolver) Content(ctx context.Context, comment *blog.Comment) (*string, error) {
	if comment.ContentLoaded() {
		return &comment.Content, nil
	}
	whole, _, err := scopeFrom(ctx).comments.load(ctx, comment.Ref(), siblingComments(ctx), fetchMany(r.store.CommentsByID))
	if whole == nil || err != nil {
		return nil, err
	}
	return &whole.Content, nil
}

// Post resolves Comment.post.
func (r commentResolver) Post(ctx context.Context, comment *blog.Comment) (*blog.Post, error) {
	return r.referencedPost(ctx, comment.Post)
}

// referencedPost returns the post of a comment or like, or nil if the post no longer exists. If the
// comment or like is from a list, this sends no request, because the post was read before the list.
func (r *Resolver) referencedPost(ctx context.Context, post *blog.Post) (*blog.Post, error) {
	if post.Loaded() {
		return post, nil
	}
	existing, err := r.existingPost(ctx, post, nil)
	return r.withSelected(ctx, existing, err)
}
