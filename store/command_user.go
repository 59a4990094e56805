package store

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

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

// DeleteUser marks a user as deleted and gives the user as they were (Deleted). From then on there is no such user; the
// projector deletes what is theirs and frees the username. The username, whatever its case, must be the user's: who was
// asked for it has thought twice. Errors: NOT_FOUND (ErrBeingDeleted where that is so), BAD_USER_INPUT for another
// username.
func (s *Store) DeleteUser(ctx context.Context, userID, username string) (*blog.User, error) {
	var unsure *userItem // what a try of unknown outcome may have deleted
	var doubt error      // that try's
	for try := 1; ; try++ {
		item, _, err := read[userItem](ctx, s.users, userID, userID)
		if err != nil {
			return nil, because(err, blog.NotFound, errNoUser.Message)
		}
		if unsure != nil && item.Deleted && item.Revision == unsure.Revision+1 {
			return unsure.deleted(), nil
		}
		if err := item.refusal(); err != nil {
			return nil, err
		}
		if blog.NormalizeUsername(username) != blog.NormalizeUsername(item.Username) {
			return nil, errNotUsername
		}
		err = s.markUserDeleted(ctx, item)
		switch {
		case err == nil:
			return item.deleted(), nil
		case outcomeUnknown(ctx, err):
			unsure, doubt = item, err
		case !isConflict(err):
			return nil, err
		}
		if s.again.after(ctx, try) {
			continue
		}
		if doubt != nil {
			return nil, doubt
		}
		return nil, lostRace(ctx, err)
	}
}

var errNotUsername = blog.Errorf(blog.BadUserInput, "That is not the user's username: nothing was deleted.")

// markUserDeleted leaves the names on the item: they are freed at the end.
func (s *Store) markUserDeleted(ctx context.Context, item *userItem) error {
	var changes azcosmos.PatchOperations
	changes.AppendSet("/deleted", true)
	return s.changeUser(ctx, item.ID, item.Revision, changes)
}

// deleted gives the user as they were, and that they are no more.
func (i *userItem) deleted() *blog.User {
	user := i.user()
	user.Deleted = true
	return user
}

// takeUsername lets a user bear a username, and makes the user first where the naming says so. Where a step finds that
// somebody else was faster, or nobody knows whether it was done, all steps are taken again from the first.
func (s *Store) takeUsername(ctx context.Context, n *naming) (*blog.User, error) {
	if err := blog.CheckUsername(n.username); err != nil {
		return nil, err
	}
	n.store, n.name, n.former = s, blog.NormalizeUsername(n.username), map[string]bool{}
	user, err := s.takeReserved(ctx, n)
	if err != nil && n.reserved {
		n.former[n.name] = true // unless the user wants it still
		n.releaseFormer(ctx)
	}
	return user, err
}

// takeReserved takes the steps of a naming until they are done or refused. What it reserved may stay behind.
func (s *Store) takeReserved(ctx context.Context, n *naming) (*blog.User, error) {
	var unsure error // of a try that may have been done: it may be what later ones lost a race against
	for try := 1; ; try++ {
		user, err := n.try(ctx)
		if err == nil {
			n.releaseFormer(ctx)
			return user.user(), nil
		}
		if !raced(ctx, err) {
			return nil, err
		}
		if outcomeUnknown(ctx, err) {
			unsure = err
		}
		if s.again.after(ctx, try) {
			continue
		}
		if unsure != nil {
			return nil, unsure
		}
		return nil, lostRace(ctx, err)
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
