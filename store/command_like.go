package store

import (
	"context"

	"cosmosblog/internal/blog"
)

// LikePost executes createLike (C4). A post that the user likes already stays as it is, and the like that is there is
// given. The like's Post is loaded but for its content. Errors: NOT_FOUND where there is no such post.
func (s *Store) LikePost(ctx context.Context, user *blog.User, postID string) (*blog.Like, error) {
	panic("not built yet")
}

// UnlikePost executes deleteLike and gives the post, loaded but for its content. A post that the user does not like
// stays as it is. Errors: NOT_FOUND where there is no such post.
func (s *Store) UnlikePost(ctx context.Context, userID, postID string) (*blog.Post, error) {
	panic("not built yet")
}
