package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/internal/blog"
)

// naming is how a user comes to bear a username. No transaction spans the two containers, so it goes in steps, and the
// process may die between any two of them:
//
//  1. the user item says what the user wants (pendingUsername);
//  2. the name is reserved for the user in usernames;
//  3. the user item takes the name, if nobody changed it since step 1;
//  4. the reservation of the former name is deleted.
//
// A reservation counts only while its user bears the name. One whose user does not may be taken over once it is old
// enough, and whoever does so first changes the user item that wants the name, so that step 3 of a user who stalled
// fails. Every write is conditional on what was read before it: on the revision of the user item, on the etag of a
// reservation.
type naming struct {
	userID   string
	username string        // as the user writes it
	creating bool          // makes the user first
	created  blog.DateTime // the creation date of a new user; now where empty

	store    *Store
	name     string          // normalized: what is unique
	reserved bool            // step 2 was done by this naming
	former   map[string]bool // normalized names that the user bore or wanted before
}

var (
	errUsernameTaken    = blog.Errorf(blog.UsernameTaken, "Somebody else bears that username.")
	errDeletionUnderWay = blog.Errorf(blog.Conflict, "The user of your account is being deleted. Please try again in a minute.")
	errHasUser          = blog.Errorf(blog.Conflict, "Your account has a user of another name already. Use updateUser to rename it.")
)

// raced tells whether a step failed because of what somebody else did meanwhile, or may have been done although it
// failed. Refusals by rule have no cause and are final.
func raced(ctx context.Context, err error) bool {
	e, ok := errors.AsType[*blog.Error](err)
	return ok && e.Err != nil && (e.Code == blog.Conflict || e.Code == blog.NotFound) || outcomeUnknown(ctx, err)
}

// try takes all steps but the last once and gives the user item as it is then.
func (n *naming) try(ctx context.Context) (*userItem, error) {
	user, gone, err := n.read(ctx)
	if err != nil || n.isBorneBy(user) {
		return user, err
	}
	claim, err := n.look(ctx)
	if err != nil {
		return nil, err
	}
	if claim.state == nameTaken {
		n.wantNoMore(ctx, user)
		return nil, errUsernameTaken
	}
	if err := n.want(ctx, user, gone); err != nil {
		return nil, err
	}
	if err := n.reserve(ctx, claim); err != nil {
		return nil, err
	}
	return user, n.take(ctx, user)
}

// read gives the user item as it stands, or the one that is yet to be written, and refuses where the rules say so. Where
// the new user takes the place of one that was deleted, gone is the etag of that one's item.
func (n *naming) read(ctx context.Context) (user *userItem, gone azcore.ETag, err error) {
	user, etag, err := read[userItem](ctx, n.store.users, n.userID, n.userID)
	switch {
	case isNotFound(err) && n.creating:
		return n.newUser(0), "", nil
	case isNotFound(err):
		return nil, "", errNoUser
	case err != nil:
		return nil, "", err
	case user.isGone() && n.creating:
		return n.newUser(user.Revision), etag, nil
	case user.isGone():
		return nil, "", errNoUser
	case user.Deleted && n.creating:
		return nil, "", errDeletionUnderWay
	case user.Deleted:
		return nil, "", ErrBeingDeleted
	case !n.creating && user.Username == "":
		return nil, "", errNoUser
	case n.creating && user.Username != "" && blog.NormalizeUsername(user.Username) != n.name:
		n.former[n.name] = n.reserved // another request of the same account was faster
		n.releaseFormer(ctx)
		return nil, "", errHasUser
	}
	n.remember(user.Username)
	n.remember(user.PendingUsername)
	return user, "", nil
}

// newUser gives the item of a user who is yet to be created. Its revision goes on from that of a user who was deleted:
// what is left of that one anywhere stays older.
func (n *naming) newUser(revision int64) *userItem {
	created := n.created
	if created == "" {
		created = n.store.clock.Next()
	}
	return &userItem{ID: n.userID, UserID: n.userID, Type: typeUser, CreationDate: created, Revision: revision}
}

// remember notes a name that the user may have a reservation of and will need no more.
func (n *naming) remember(username string) {
	if name := blog.NormalizeUsername(username); name != "" && name != n.name {
		n.former[name] = true
	}
}

// isBorneBy tells whether nothing is left to do. A user who is created is done as well when a rename has begun since, and
// where the name is there in other case: usernames are the same whatever the case.
func (n *naming) isBorneBy(user *userItem) bool {
	if n.creating {
		return blog.NormalizeUsername(user.Username) == n.name
	}
	return user.Username == n.username && user.PendingUsername == ""
}

// want makes the user item say that the user wants the name (step 1).
func (n *naming) want(ctx context.Context, user *userItem, gone azcore.ETag) (err error) {
	wanted := user.PendingUsername == n.username
	user.PendingUsername = n.username
	switch {
	case gone != "":
		user.Revision++
		_, err = replace(ctx, n.store.users, n.userID, n.userID, user, gone)
		return err
	case user.Revision == 0:
		user.Revision++
		_, err = create(ctx, n.store.users, n.userID, user)
		return err
	case wanted: // by an earlier try, or by a process that died
		return nil
	}
	var changes azcosmos.PatchOperations
	changes.AppendSet("/pendingUsername", n.username)
	err = n.store.changeUser(ctx, n.userID, user.Revision, changes)
	user.Revision++
	return err
}

// wantNoMore takes back a wish that cannot be fulfilled. Where that fails, the next naming does it.
func (n *naming) wantNoMore(ctx context.Context, user *userItem) {
	if blog.NormalizeUsername(user.PendingUsername) == n.name {
		_ = n.store.cancelWish(ctx, user)
	}
}

// cancelWish makes a user item want no name. Error: CONFLICT where it was changed since it was read.
func (s *Store) cancelWish(ctx context.Context, user *userItem) error {
	var changes azcosmos.PatchOperations
	changes.AppendRemove("/pendingUsername")
	return s.changeUser(ctx, user.ID, user.Revision, changes)
}

// take makes the user bear the name (step 3), if the item is as step 1 left it.
func (n *naming) take(ctx context.Context, user *userItem) error {
	var changes azcosmos.PatchOperations
	changes.AppendSet("/username", n.username)
	changes.AppendRemove("/pendingUsername")
	err := n.store.changeUser(ctx, n.userID, user.Revision, changes)
	user.Username, user.PendingUsername = n.username, ""
	user.Revision++
	return err
}

// changeUser patches a user item whose revision is still the given one, and raises that. The etag would not do: it also
// changes when the projector counts a post, and who publishes much could not be renamed.
// Error: CONFLICT where the revision is another by now.
func (s *Store) changeUser(ctx context.Context, userID string, revision int64, changes azcosmos.PatchOperations) error {
	changes.AppendIncrement("/revision", 1)
	changes.SetCondition(fmt.Sprintf("from c where c.type = 'user' and c.revision = %d", revision))
	_, err := s.users.PatchItem(ctx, azcosmos.NewPartitionKeyString(userID), userID, changes, nil)
	return asBlogError(err)
}
