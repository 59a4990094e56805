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
	siblings := siblingPosts(ctx, func(p *blog.Post) bool { return !p.ContentLoaded() })
	whole, err := r.post(ctx, post.ID, siblings)
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
	userID := account.UserID()
	siblings := siblingPosts(ctx, func(*blog.Post) bool { return true })
	liked, _, err := scopeOf(ctx).liked.load(ctx, post.ID, siblings, func(ctx context.Context, postIDs []string) (map[string]bool, error) {
		return r.store.LikedBy(ctx, userID, postIDs)
	})
	return liked, err
}

// Comments answers Post.comments (Q4).
func (r postResolver) Comments(ctx context.Context, post *blog.Post, first *int, after *string) (*model.CommentConnection, error) {
	return connection(model.CommentsList(post.ID), first, after, func(page blog.PageRequest) (blog.Page[*blog.Comment], error) {
		if parent, err := r.parent(ctx, post); parent == nil {
			return blog.Page[*blog.Comment]{}, err
		}
		return r.store.Comments(ctx, post.ID, page)
	})
}

// Likes answers Post.likes (Q5).
func (r postResolver) Likes(ctx context.Context, post *blog.Post, first *int, after *string) (*model.LikeConnection, error) {
	return connection(model.LikesList(post.ID), first, after, func(page blog.PageRequest) (blog.Page[*blog.Like], error) {
		if parent, err := r.parent(ctx, post); parent == nil {
			return blog.Page[*blog.Like]{}, err
		}
		return r.store.Likes(ctx, post.ID, page)
	})
}

// parent makes sure that a post is there before its comments or likes are listed: a copy in a list may outlive it. It
// gives nil where the post is gone. A whole post, and one that a command has just changed, need not be read again.
func (r *Resolver) parent(ctx context.Context, post *blog.Post) (*blog.Post, error) {
	parents := &scopeOf(ctx).parents
	if known, ok := parents.Load(post.ID); ok {
		return known.(*blog.Post), nil
	}
	if !post.ContentLoaded() {
		siblings := siblingPosts(ctx, func(p *blog.Post) bool { return !p.ContentLoaded() })
		whole, err := r.post(ctx, post.ID, siblings)
		if err != nil || whole == nil {
			return nil, err
		}
		post = whole
	}
	parents.Store(post.ID, post)
	return post, nil
}
