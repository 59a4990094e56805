package store

import (
	"context"

	"cosmosblog/internal/blog"
)

// CreateUser makes the user of an account (C1). Again with the same username, whatever its case, it gives the user that
// is there. Errors: BAD_USER_INPUT, USERNAME_TAKEN, CONFLICT where the account has a user of another name.
func (s *Store) CreateUser(ctx context.Context, account blog.Account, username string) (*blog.User, error) {
	return s.takeUsername(ctx, &naming{userID: account.UserID(), username: username, creating: true})
}

// UpdateUser renames a user (C1). Errors: BAD_USER_INPUT, USERNAME_TAKEN, NOT_FOUND; CONFLICT where somebody else
// renames the same user or takes the same name over and over.
func (s *Store) UpdateUser(ctx context.Context, userID, username string) (*blog.User, error) {
	return s.takeUsername(ctx, &naming{userID: userID, username: username})
}

// takeUsername lets a user bear a username, and makes the user first where the naming says so. Where a step finds that
// somebody else was faster, or nobody knows whether it was done, all steps are taken again from the first.
func (s *Store) takeUsername(ctx context.Context, n *naming) (*blog.User, error) {
	if err := blog.CheckUsername(n.username); err != nil {
		return nil, err
	}
	n.store, n.name, n.former = s, blog.NormalizeUsername(n.username), map[string]bool{}
	for try := 1; ; try++ {
		user, err := n.try(ctx)
		if err == nil {
			n.releaseFormer(ctx)
			return user.user(), nil
		}
		if !raced(ctx, err) {
			return nil, err
		}
		if !s.again.after(ctx, try) {
			return nil, lostRace(ctx, err)
		}
	}
}

// lostRace is the error of a naming that somebody else was faster than over and over.
func lostRace(ctx context.Context, err error) error {
	if outcomeUnknown(ctx, err) {
		return err
	}
	return &blog.Error{
		Code:    blog.Conflict,
		Message: "Somebody else is changing this user or username right now. Please try again.",
		Err:     err,
	}
}
