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

// Content resolves Post.content. It reads the content of posts from lists, and of posts whose
// command did not change the content. It returns nil if the post was deleted meanwhile.
func (r postResolver) Content(ctx context.Context, post *blog.Post) (*string, error) {
	if post.ContentLoaded() {
		return &post.Content, nil
	}
	whole, err := r.loadPost(ctx, post.ID, siblingPosts(ctx, isShort))
	if err != nil || whole == nil {
		return nil, err
	}
	return &whole.Content, nil
}

// ViewerHasLiked resolves Post.viewerHasLiked. It does not check that the account has a user,
// because an account without a user has no likes.
func (r postResolver) ViewerHasLiked(ctx context.Context, post *blog.Post) (*bool, error) {
	account, ok := auth.AccountFrom(ctx)
	if !ok {
		return new(bool), nil
	}
	scope := scopeFrom(ctx)
	siblings := siblingPosts(ctx, func(*blog.Post) bool { return true })
	liked, _, err := scope.liked.load(ctx, post.ID, siblings, func(ctx context.Context, postIDs []string) (liked map[string]bool, err error) {
		err = scope.read(ctx, len(postIDs), func() (int, error) {
			liked, err = r.store.LikedBy(ctx, account.UserID(), postIDs)
			return 0, err
		})
		return liked, err
	})
	if err != nil {
		return nil, err
	}
	return &liked, nil
}

// Comments resolves Post.comments (Q4).
func (r postResolver) Comments(ctx context.Context, post *blog.Post, first *int, after *string) (*model.CommentConnection, error) {
	return connection(ctx, listSource[*blog.Comment]{
		list:   model.CommentsList(post.ID),
		pages:  &scopeFrom(ctx).commentPages,
		exists: r.exists(post),
		read: func(ctx context.Context, page blog.PageRequest) (blog.Page[*blog.Comment], error) {
			return r.store.Comments(ctx, post.ID, page)
		},
	}, first, after)
}

// Likes resolves Post.likes (Q5).
func (r postResolver) Likes(ctx context.Context, post *blog.Post, first *int, after *string) (*model.LikeConnection, error) {
	return connection(ctx, listSource[*blog.Like]{
		list:   model.LikesList(post.ID),
		pages:  &scopeFrom(ctx).likePages,
		exists: r.exists(post),
		read: func(ctx context.Context, page blog.PageRequest) (blog.Page[*blog.Like], error) {
			return r.store.Likes(ctx, post.ID, page)
		},
	}, first, after)
}

// exists returns a function that reports whether a post exists. Lists of comments and likes need
// it, because a copy of the post in another list may outlive the post.
func (r postResolver) exists(post *blog.Post) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		post, err := r.existingPost(ctx, post, siblingPosts(ctx, isShort))
		return post != nil, err
	}
}

// isShort reports whether a post lacks its content.
func isShort(p *blog.Post) bool { return !p.ContentLoaded() }
