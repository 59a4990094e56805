package store

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/internal/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// CreateUser makes the user of an account (C1). Again with the same username, whatever its case, it gives the user that
// is there. Errors: BAD_USER_INPUT, USERNAME_TAKEN, CONFLICT where the account has a user of another name.
func (s *Store) CreateUser(ctx context.Context, account blog.Account, username string) (*blog.User, error) {
	return s.CreateUserAt(ctx, account.UserID(), username, "")
}

// CreateUserAt creates a user with a given id and creation date (the present if empty), as CreateUser
// does for an account.
func (s *Store) CreateUserAt(ctx context.Context, userID, username string, creationDate blog.DateTime) (*blog.User, error) {
	n := s.newNaming(userID, username)
	n.creating, n.created = true, creationDate
	return n.run(ctx)
}

// UpdateUser renames a user (C1). Errors: BAD_USER_INPUT, USERNAME_TAKEN, NOT_FOUND; CONFLICT where somebody else
// renames the same user or takes the same name over and over.
func (s *Store) UpdateUser(ctx context.Context, userID, username string) (*blog.User, error) {
	return s.newNaming(userID, username).run(ctx)
}

// DeleteUser marks a user as deleted and gives the user as they were (Deleted). From then on there is no such user; the
// projector deletes what is theirs and frees the username. The username, whatever its case, must be the user's: who was
// asked for it has thought twice. Errors: NOT_FOUND (ErrBeingDeleted where that is so), BAD_USER_INPUT for another
// username.
func (s *Store) DeleteUser(ctx context.Context, userID, username string) (*blog.User, error) {
	var unsure *schema.UserItem // what a try of unknown outcome may have deleted
	var doubt error             // that try's
	for try := 1; ; try++ {
		item, _, err := cosmos.Read[schema.UserItem](ctx, s.users, userID, userID)
		if err != nil {
			return nil, cosmos.WithMessage(err, blog.NotFound, errNoUser.Message)
		}
		if unsure != nil && item.Deleted && item.Revision == unsure.Revision+1 {
			return deletedUser(unsure), nil
		}
		if err := userRefusal(item); err != nil {
			return nil, err
		}
		if blog.NormalizeUsername(username) != blog.NormalizeUsername(item.Username) {
			return nil, errNotUsername
		}
		err = s.markUserDeleted(ctx, item)
		switch {
		case err == nil:
			return deletedUser(item), nil
		case cosmos.OutcomeUnknown(ctx, err):
			unsure, doubt = item, err
		case !cosmos.IsConflict(err):
			return nil, err
		}
		if s.db.Backoff().Wait(ctx, try) {
			continue
		}
		if doubt != nil {
			return nil, doubt
		}
		return nil, errRaceLost(ctx, err)
	}
}

var errNotUsername = blog.Errorf(blog.BadUserInput, "That is not the user's username: nothing was deleted.")

// markUserDeleted leaves the names on the item: they are freed at the end.
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
