package resolvers

import (
	"context"
	"slices"

	"cosmosblog/blog"
	"cosmosblog/graph"
	"cosmosblog/graph/model"
	"cosmosblog/guard/request"
	"cosmosblog/store"
)

type postResolver struct{ *Resolver }

var _ graph.PostResolver = postResolver{}

// Content resolves Post.content. It reads the content of posts from lists, of posts whose command
// did not change the content, and long ones. It returns nil if the post was deleted meanwhile.
func (r postResolver) Content(ctx context.Context, post *blog.Post) (*string, error) {
	if post.ContentLoaded() {
		return &post.Content, nil
	}
	siblings := siblingPosts(ctx, isShort)
	if post.LacksContent() { // the result of a command, or the state of a stream
		return contentOf(r.loadContent(ctx, post, noSiblings))
	}
	whole, err := r.loadPost(ctx, post.ID, siblings)
	if whole != nil && err == nil {
		whole, err = r.loadContent(ctx, whole, siblings)
	}
	return contentOf(whole, err)
}

func contentOf(post *blog.Post, err error) (*string, error) {
	switch {
	case post == nil || err != nil:
		return nil, err
	case post.LacksContent():
		return nil, store.ErrContentLost
	}
	return &post.Content, nil
}

// CommentCount resolves Post.commentCount. Entries of the lists of tags and months lack it. It is 0
// if the post was deleted meanwhile.
func (r postResolver) CommentCount(ctx context.Context, post *blog.Post) (*int, error) {
	counted, err := r.counted(ctx, post)
	if err != nil {
		return nil, err
	}
	return &counted.CommentCount, nil
}

// LikeCount resolves Post.likeCount, as CommentCount does Post.commentCount.
func (r postResolver) LikeCount(ctx context.Context, post *blog.Post) (*int, error) {
	counted, err := r.counted(ctx, post)
	if err != nil {
		return nil, err
	}
	return &counted.LikeCount, nil
}

// RecentComments resolves Post.recentComments, as CommentCount does Post.commentCount.
func (r postResolver) RecentComments(ctx context.Context, post *blog.Post) ([]*blog.Comment, error) {
	counted, err := r.counted(ctx, post)
	if err != nil {
		return nil, err
	}
	return counted.RecentComments, nil
}

// counted returns a post with its counts and recent comments. If the post was deleted, it has none.
// It reads the posts of the same list together.
func (r postResolver) counted(ctx context.Context, post *blog.Post) (*blog.Post, error) {
	if post.CountsLoaded() {
		return post, nil
	}
	counted, err := r.loadPost(ctx, post.ID, siblingPosts(ctx, isShort))
	if counted == nil && err == nil {
		counted = &blog.Post{RecentComments: []*blog.Comment{}}
	}
	return counted, err
}

// ViewerHasLiked resolves Post.viewerHasLiked. It does not check that the account has a user,
// because an account without a user has no likes.
func (r postResolver) ViewerHasLiked(ctx context.Context, post *blog.Post) (*bool, error) {
	account := request.Of(ctx).Account
	if account == nil {
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

// Comments resolves Post.comments (Q4). Both orders are the same list, so a cursor of one is valid
// in the other.
func (r postResolver) Comments(ctx context.Context, post *blog.Post, first *int, after *string, order *blog.CommentOrder) (*model.CommentConnection, error) {
	if order == nil {
		order = new(blog.OldestFirst)
	}
	return connection(ctx, listSource[*blog.Comment]{
		list:   model.CommentsList(post.ID),
		pages:  &scopeFrom(ctx).commentPages,
		order:  *order,
		exists: r.exists(post, func(existing *blog.Post) int { return existing.CommentCount }),
		read: func(ctx context.Context, page blog.PageRequest) (blog.Page[*blog.Comment], error) {
			return r.comments(ctx, post.ID, page)
		},
	}, first, after)
}

// comments reads a page of comments. Nobody knows their sizes before. So one request reads at most
// as many (usage.commentsOfRequest) as may be read if all are of the greatest length. If there are
// more, requests follow one after the other, unless the operation is charged too much.
func (r postResolver) comments(ctx context.Context, postID string, request blog.PageRequest) (blog.Page[*blog.Comment], error) {
	usage, left := scopeFrom(ctx).usage, request.First
	request.First = min(left, usage.commentsOfRequest())
	page, err := r.store.Comments(ctx, postID, request)
	for left -= len(page.Items); err == nil && page.HasNextPage && left > 0; {
		if err := usage.checkCharge(); err != nil {
			return page, err
		}
		request.First = min(left, request.First)
		request.After = &page.Positions[len(page.Positions)-1]
		var next blog.Page[*blog.Comment]
		next, err = r.store.Comments(ctx, postID, request)
		left -= len(next.Items)
		page = blog.Page[*blog.Comment]{ // the first one may be shared with other requests
			Items:       slices.Concat(page.Items, next.Items),
			Positions:   slices.Concat(page.Positions, next.Positions),
			HasNextPage: next.HasNextPage,
		}
	}
	return page, err
}

// Likes resolves Post.likes (Q5).
func (r postResolver) Likes(ctx context.Context, post *blog.Post, first *int, after *string) (*model.LikeConnection, error) {
	return connection(ctx, listSource[*blog.Like]{
		list:   model.LikesList(post.ID),
		pages:  &scopeFrom(ctx).likePages,
		exists: r.exists(post, func(existing *blog.Post) int { return existing.LikeCount }),
		read: func(ctx context.Context, page blog.PageRequest) (blog.Page[*blog.Like], error) {
			return r.store.Likes(ctx, post.ID, page)
		},
	}, first, after)
}

// PreviousByAuthor resolves Post.previousByAuthor: one query for the author's list of posts (Q3),
// from the position of the post. It does not check whether the author exists. While a deletion is
// under way, it returns the copies that are left, as other lists of posts do.
func (r postResolver) PreviousByAuthor(ctx context.Context, post *blog.Post) (*blog.Post, error) {
	author := listSource[*blog.Post]{read: func(ctx context.Context, page blog.PageRequest) (blog.Page[*blog.Post], error) {
		return r.store.UserPosts(ctx, post.Author.ID, page)
	}}
	page, _, err := scopeFrom(ctx).previous.load(ctx, post.ID, nil, func(ctx context.Context, _ []string) (map[string]blog.Page[*blog.Post], error) {
		page, err := author.fetch(ctx, blog.PageRequest{First: 1, After: &blog.Position{CreationDate: post.CreationDate, ID: post.ID}})
		return map[string]blog.Page[*blog.Post]{post.ID: page}, err
	})
	if err != nil || len(page.Items) == 0 {
		return nil, err
	}
	return page.Items[0], nil
}

// exists returns a function that reports whether a post exists, and one of its counters. Lists of
// comments and likes need it, because a copy of the post in another list may outlive the post.
func (r postResolver) exists(post *blog.Post, count func(*blog.Post) int) func(context.Context) (int, bool, error) {
	return func(ctx context.Context) (int, bool, error) {
		existing, err := r.existingPost(ctx, post, siblingPosts(ctx, isShort))
		if existing == nil || err != nil {
			return 0, false, err
		}
		return count(existing), true, nil
	}
}

// isShort reports whether a post lacks its content.
func isShort(p *blog.Post) bool { return !p.ContentLoaded() }
