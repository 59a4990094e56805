package store

import (
	"context"

	"cosmosblog/internal/blog"
)

// CreateComment executes createComment (C3): the comment and the post's counter in one transaction. The comment's Post
// is loaded but for its content. The same idempotency key gives the comment that it made before.
// Errors: BAD_USER_INPUT; NOT_FOUND where there is no such post, or the key's comment was deleted; CONFLICT where the
// key was used for other input.
func (s *Store) CreateComment(ctx context.Context, author *blog.User, in blog.CommentInput) (*blog.Comment, error) {
	panic("not built yet")
}

// DeleteComment executes deleteComment: only the comment's writer or the post's author may. It gives the comment as it
// was, its Post loaded but for its content. Errors: NOT_FOUND, FORBIDDEN.
func (s *Store) DeleteComment(ctx context.Context, userID, postID, commentID string) (*blog.Comment, error) {
	panic("not built yet")
}
