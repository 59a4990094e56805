package store

import (
	"context"

	"cosmosblog/internal/blog"
)

// Post reads a whole post (Q2): one point read in posts. Error: NOT_FOUND.
func (s *Store) Post(ctx context.Context, postID string) (*blog.Post, error) {
	panic("not built yet")
}

// Posts reads several whole posts: one point read for one, otherwise one read many. Unknown and deleted ones are absent
// from the map.
func (s *Store) Posts(ctx context.Context, postIDs []string) (map[string]*blog.Post, error) {
	panic("not built yet")
}

// Comments lists a post's comments, oldest first (Q4): one query to the post's partition. It does not look whether
// there is such a post.
func (s *Store) Comments(ctx context.Context, postID string, page blog.PageRequest) (blog.Page[*blog.Comment], error) {
	panic("not built yet")
}

// Likes lists a post's likes, newest first (Q5), as Comments does.
func (s *Store) Likes(ctx context.Context, postID string, page blog.PageRequest) (blog.Page[*blog.Like], error) {
	panic("not built yet")
}

// Comment reads one comment and, beside it, its whole post: two point reads in one partition, because nobody sees the
// comments of a post that is gone. Error: NOT_FOUND where either is gone.
func (s *Store) Comment(ctx context.Context, postID, commentID string) (*blog.Comment, error) {
	panic("not built yet")
}

// Like reads one like and its whole post, as Comment does.
func (s *Store) Like(ctx context.Context, postID, userID string) (*blog.Like, error) {
	panic("not built yet")
}

// LikedBy tells which of the posts a user likes: one point read for one post, otherwise one read many.
func (s *Store) LikedBy(ctx context.Context, userID string, postIDs []string) (map[string]bool, error) {
	panic("not built yet")
}
