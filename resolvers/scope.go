package resolvers

import (
	"context"
	"sync"

	"cosmosblog/blog"
)

// scope holds what the fields of one operation share, so that no item or page is read twice. A
// query has one scope. Mutations run one after the other and change what they read, so each has
// its own scope. The usage counts the whole operation. A scope may be used concurrently.
type scope struct {
	*usage

	users    loader[string, *blog.User]
	posts    loader[string, *blog.Post] // with their content unless it is long
	contents loader[string, *blog.Post] // posts with a long content
	comments loader[blog.Ref, *blog.Comment]
	likes    loader[blog.Ref, *blog.Like]
	liked    loader[string, bool]    // whether the viewer likes a post, by the post's id
	counts   loader[blog.List, *int] // of posts in lists

	postPages    pages[*blog.Post]
	commentPages pages[*blog.Comment]
	likePages    pages[*blog.Like]

	previous loader[string, blog.Page[*blog.Post]] // the author's post before a post, by the post's id

	// existing holds, by id, posts that were read or returned by a command, so that listing their
	// comments or likes needs no check. A nil *blog.Post means that a command deleted the post.
	existing sync.Map
}

type scopeKey struct{}

// withScope returns a context with a new scope.
func withScope(ctx context.Context, u *usage) context.Context {
	return context.WithValue(ctx, scopeKey{}, &scope{usage: u})
}

// scopeFrom returns the scope of a context. It panics if there is none.
func scopeFrom(ctx context.Context) *scope { return ctx.Value(scopeKey{}).(*scope) }
