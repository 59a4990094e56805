package store

import (
	"context"

	"cosmosblog/internal/blog"
)

// CreateUser makes the user of an account (C1). Again with the same username it gives the user that is there.
// Errors: BAD_USER_INPUT, USERNAME_TAKEN, CONFLICT where the account has a user of another name.
func (s *Store) CreateUser(ctx context.Context, account blog.Account, username string) (*blog.User, error) {
	panic("not built yet")
}

// UpdateUser renames a user (C1). Errors: BAD_USER_INPUT, USERNAME_TAKEN, NOT_FOUND.
func (s *Store) UpdateUser(ctx context.Context, userID, username string) (*blog.User, error) {
	panic("not built yet")
}
