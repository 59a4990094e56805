package store

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// CreateUser creates the user of an account (C1). If the account already has a user with the
// username, in any case, it returns that user. Errors: BAD_USER_INPUT; USERNAME_TAKEN;
// ACCOUNT_HAS_USER if the account has a user with another username; DELETION_UNDER_WAY if that
// user is being deleted; TRY_AGAIN if other requests won every race; THROTTLED.
func (s *Store) CreateUser(ctx context.Context, account blog.Account, username string) (*blog.User, error) {
	return s.CreateUserAt(ctx, account.UserID(), username, "")
}

// CreateUserAt is CreateUser with a given user id and creation date (now if empty).
func (s *Store) CreateUserAt(ctx context.Context, userID, username string, creationDate blog.DateTime) (*blog.User, error) {
	n := s.newNaming(userID, username)
	n.creating, n.created = true, creationDate
	return n.run(ctx)
}

// UpdateUser renames a user (C1) and returns the renamed user. Errors: BAD_USER_INPUT;
// USERNAME_TAKEN; NOT_FOUND; TRY_AGAIN if other requests for this user or username won every
// race; THROTTLED.
func (s *Store) UpdateUser(ctx context.Context, userID, username string) (*blog.User, error) {
	n := s.newNaming(userID, username)
	user, err := n.run(ctx)
	if err == nil && n.takes {
		s.causeSweep(ctx, userID, n.posts, n.before)
	}
	return user, err
}

// DeleteUser marks a user as deleted, and returns the user as they were, with Deleted set. From
// then on, queries do not find the user. The projector deletes all items of the user and releases
// the username. As confirmation, username must be the user's own, in any case. Errors: NOT_FOUND
// (ErrBeingDeleted if the user is already marked as deleted); BAD_USER_INPUT for another username;
// TRY_AGAIN if other requests won every race; THROTTLED.
func (s *Store) DeleteUser(ctx context.Context, userID, username string) (*blog.User, error) {
	ctx = cosmos.InSession(ctx)
	var unsure *schema.UserItem // possibly deleted by a try of unknown outcome
	tries := s.newTries()
	for {
		item, err := s.confirmedUser(ctx, userID, username)
		switch {
		case err == nil:
			err = s.markUserDeleted(ctx, item)
		case unsure != nil && item != nil && item.Deleted && item.Revision == unsure.Revision+1:
			s.causeDeletion(ctx, unsure)
			return deletedUser(unsure), nil
		default:
			err = tries.decide(ctx, err, s.userAt(userID))
		}
		switch {
		case err == nil:
			s.causeDeletion(ctx, item)
			return deletedUser(item), nil
		case cosmos.OutcomeUnknown(ctx, err):
			unsure = item
		}
		if err := tries.next(ctx, err); err != nil {
			return nil, err
		}
	}
}

// confirmedUser reads a user who is to be deleted. It returns the item, if there is one,
// together with the error. Errors: NOT_FOUND; BAD_USER_INPUT if the username is not the user's.
func (s *Store) confirmedUser(ctx context.Context, userID, username string) (*schema.UserItem, error) {
	item, _, err := cosmos.Read[schema.UserItem](ctx, s.users, userID, userID)
	switch {
	case cosmos.IsNotFound(err):
		return nil, errNoUser
	case err != nil:
		return nil, err
	}
	if err := errNotVisible(item); err != nil {
		return item, err
	}
	if blog.NormalizeUsername(username) != blog.NormalizeUsername(item.Username) {
		return item, errNotUsername
	}
	return item, nil
}

func (s *Store) userAt(id string) place { return place{s.users, id, id} }

var errNotUsername = blog.AtField(
	blog.Errorf(blog.BadUserInput, "To confirm the deletion, `username` must be your username. Nothing was deleted."), "username")

// markUserDeleted keeps the usernames on the item: the projector releases them at the end of the
// deletion.
func (s *Store) markUserDeleted(ctx context.Context, item *schema.UserItem) error {
	var changes azcosmos.PatchOperations
	changes.AppendSet("/deleted", true)
	return s.patchUser(ctx, item.ID, item.Revision, changes)
}

// deletedUser returns the user as they were, marked as deleted.
func deletedUser(item *schema.UserItem) *blog.User {
	user := item.User()
	user.Deleted = true
	return user
}
