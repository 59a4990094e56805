package store

import (
	"context"

	"cosmosblog/internal/blog"
)

// User reads a user (Q1): one point read in users. Error: NOT_FOUND, also while a user's first username is not theirs yet.
func (s *Store) User(ctx context.Context, userID string) (*blog.User, error) {
	panic("not built yet")
}

// Users reads several users: one point read for one, otherwise one read many. Unknown ones are absent from the map.
func (s *Store) Users(ctx context.Context, userIDs []string) (map[string]*blog.User, error) {
	panic("not built yet")
}

// UserByUsername finds who bears a username, whatever its case: a point read in usernames, then one in users.
// Error: NOT_FOUND.
func (s *Store) UserByUsername(ctx context.Context, username string) (*blog.User, error) {
	panic("not built yet")
}

// UserPosts lists a user's posts in short form, newest first (Q3): one query to the user's partition of users. It does
// not look whether there is such a user.
func (s *Store) UserPosts(ctx context.Context, userID string, page blog.PageRequest) (blog.Page[*blog.Post], error) {
	panic("not built yet")
}
