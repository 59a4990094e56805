package resolvers

import (
	"context"
	"slices"

	"cosmosblog/blog"
	"cosmosblog/store/sessions"
)

// After a rename, copies of the former username remain for a while. The account sees its own user
// with the new name all the same, so that no answer shows it two names. Users who are read whole
// need no correction.

// withOwnName returns an element with the account's new username instead of a former one. It
// changes only a copy, because elements may be shared.
func withOwnName[T any](ctx context.Context, element T) T {
	own := sessions.From(ctx).OwnUser()
	if own == nil {
		return element
	}
	switch e := any(element).(type) {
	case *blog.Post:
		return any(postWithOwnName(own, e)).(T)
	case *blog.Comment:
		return any(commentWithOwnName(own, e)).(T)
	case *blog.Like:
		return any(likeWithOwnName(own, e)).(T)
	}
	return element
}

// pageWithOwnName is withOwnName for the elements of a page.
func pageWithOwnName[T any](ctx context.Context, page blog.Page[T]) blog.Page[T] {
	if sessions.From(ctx).OwnUser() == nil {
		return page
	}
	page.Items = slices.Clone(page.Items)
	for i, item := range page.Items {
		page.Items[i] = withOwnName(ctx, item)
	}
	page.Text = nil // of the items as they were
	return page
}

func postWithOwnName(own *sessions.User, post *blog.Post) *blog.Post {
	renamed := *post
	renamed.Author = nameOf(own, post.Author)
	renamed.RecentComments = slices.Clone(post.RecentComments)
	for i, comment := range renamed.RecentComments {
		renamed.RecentComments[i] = commentWithOwnName(own, comment)
	}
	return &renamed
}

func commentWithOwnName(own *sessions.User, comment *blog.Comment) *blog.Comment {
	author := nameOf(own, comment.Author)
	if author == comment.Author {
		return comment
	}
	renamed := *comment
	renamed.Author = author
	return &renamed
}

func likeWithOwnName(own *sessions.User, like *blog.Like) *blog.Like {
	user := nameOf(own, like.User)
	if user == like.User {
		return like
	}
	renamed := *like
	renamed.User = user
	return &renamed
}

// nameOf returns a reference to a user with the account's new username, if it is the account's user
// and has a former one. Otherwise it returns the same reference.
func nameOf(own *sessions.User, user *blog.User) *blog.User {
	if user == nil || user.ID != own.ID || user.Revision >= own.Revision {
		return user
	}
	renamed := *user
	renamed.Username = own.Username
	return &renamed
}
