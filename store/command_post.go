package store

import (
	"context"

	"cosmosblog/internal/blog"
)

// CreatePost makes a post (C2). The same idempotency key gives the post that it made before.
// Errors: BAD_USER_INPUT; CONFLICT where the key was used for other input; NOT_FOUND where the key's post was deleted.
func (s *Store) CreatePost(ctx context.Context, author *blog.User, in blog.PostInput) (*blog.Post, error) {
	panic("not built yet")
}

// UpdatePost edits a post of the author (C2). A change that changes nothing is not written.
// Errors: BAD_USER_INPUT, NOT_FOUND, FORBIDDEN where somebody else wrote it (before anything else is compared), CONFLICT
// where change.Version is given and is no longer the post's.
func (s *Store) UpdatePost(ctx context.Context, authorID, postID string, change blog.PostChange) (*blog.Post, error) {
	panic("not built yet")
}

// DeletePost marks a post of the author as deleted and gives it as it was. The projector does the rest.
// Errors: NOT_FOUND, FORBIDDEN.
func (s *Store) DeletePost(ctx context.Context, authorID, postID string) (*blog.Post, error) {
	panic("not built yet")
}
