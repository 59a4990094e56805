package resolvers

import (
	"context"

	"cosmosblog/graph"
	"cosmosblog/graph/model"
	"cosmosblog/internal/auth"
	"cosmosblog/internal/blog"
)

type postResolver struct{ *Resolver }

var _ graph.PostResolver = postResolver{}

// Content answers Post.content. Posts from a list lack it, and those that a command changed without touching it. It is
// empty for a post that was deleted meanwhile: one such post should not cost a client its whole list.
func (r postResolver) Content(ctx context.Context, post *blog.Post) (string, error) {
	if post.ContentLoaded() {
		return post.Content, nil
	}
	whole, err := r.post(ctx, post.ID, siblingPosts(ctx, isShort))
	if err != nil || whole == nil {
		return "", err
	}
	return whole.Content, nil
}

// ViewerHasLiked answers Post.viewerHasLiked. Whether the account has a user need not be known: a user who is not there
// likes nothing.
func (r postResolver) ViewerHasLiked(ctx context.Context, post *blog.Post) (bool, error) {
	account, ok := auth.AccountFrom(ctx)
	if !ok {
		return false, nil
	}
	siblings := siblingPosts(ctx, func(*blog.Post) bool { return true })
	liked, _, err := scopeOf(ctx).liked.load(ctx, post.ID, siblings, func(ctx context.Context, postIDs []string) (liked map[string]bool, err error) {
		err = scopeOf(ctx).read(ctx, len(postIDs), func() (int, error) {
			liked, err = r.store.LikedBy(ctx, account.UserID(), postIDs)
			return 0, err
		})
		return liked, err
	})
	return liked, err
}

// Comments answers Post.comments (Q4).
func (r postResolver) Comments(ctx context.Context, post *blog.Post, first *int, after *string) (*model.CommentConnection, error) {
	return connection(ctx, source[*blog.Comment]{
		list:  model.CommentsList(post.ID),
		pages: &scopeOf(ctx).pagesOfComments,
		there: r.isThere(post),
		read: func(ctx context.Context, page blog.PageRequest) (blog.Page[*blog.Comment], error) {
			return r.store.Comments(ctx, post.ID, page)
		},
	}, first, after)
}

// Likes answers Post.likes (Q5).
func (r postResolver) Likes(ctx context.Context, post *blog.Post, first *int, after *string) (*model.LikeConnection, error) {
	return connection(ctx, source[*blog.Like]{
		list:  model.LikesList(post.ID),
		pages: &scopeOf(ctx).pagesOfLikes,
		there: r.isThere(post),
		read: func(ctx context.Context, page blog.PageRequest) (blog.Page[*blog.Like], error) {
			return r.store.Likes(ctx, post.ID, page)
		},
	}, first, after)
}

// isThere looks for a post before its comments or likes are listed: a copy in a list may outlive it.
func (r postResolver) isThere(post *blog.Post) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		parent, err := r.parent(ctx, post, siblingPosts(ctx, isShort))
		return parent != nil, err
	}
}

// isShort tells whether a post lacks its content.
func isShort(p *blog.Post) bool { return !p.ContentLoaded() }

// parent gives the whole post, or what a command has just given of it, and nil where the post is gone.
func (r *Resolver) parent(ctx context.Context, post *blog.Post, siblings func() []string) (*blog.Post, error) {
	parents := &scopeOf(ctx).parents
	if known, ok := parents.Load(post.ID); ok {
		return known.(*blog.Post), nil
	}
	if isShort(post) {
		whole, err := r.post(ctx, post.ID, siblings)
		if err != nil || whole == nil {
			return nil, err
		}
		post = whole
	}
	parents.Store(post.ID, post)
	return post, nil
}
