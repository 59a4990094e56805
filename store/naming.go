package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// naming assigns a username to a user: the first one, or another one (a rename). Usernames are
// unique in the whole system, and no transaction spans the containers users and usernames. A
// naming therefore goes through four steps, and the process may die between any two of them:
//
//  1. announce: the user item names the wanted username (pendingUsername);
//  2. reserve: a reservation of the username is created in usernames;
//  3. take: the user item takes the username, if nothing changed it since step 1;
//  4. release: the reservations of the former usernames are deleted.
//
// A reservation is valid only while its user has that username. A reservation whose user does not
// have it is stale once it is older than ReservationAge, and another user may take it over. Before
// that, the taker changes the user item that announced the username, so that step 3 of a stalled
// naming fails. Every write is conditional on the read before it: on the revision of the user item,
// or on the etag of the reservation. A late reservation writes nothing (CommandDeadline): it would
// stay, because the projector looks for unneeded reservations only after a change of the user item.
//
// A step that lost a race, or whose outcome is unknown, restarts the naming at its first step.
type naming struct {
	store    *Store
	userID   string
	username string        // as the user writes it
	name     string        // normalized: the id of the reservation
	creating bool          // creates the user if there is none
	created  blog.DateTime // creation date of a new user; now if empty

	reserved bool            // this naming may have written the reservation
	posts    int             // of the user who is renamed
	before   int64           // the user's revision before the naming; 0 if it was not read
	takes    bool            // this naming has changed the username
	former   map[string]bool // normalized usernames to release: the user had or announced them before
}

func (s *Store) newNaming(userID, username string) *naming {
	return &naming{
		store:    s,
		userID:   userID,
		username: username,
		name:     blog.NormalizeUsername(username),
		former:   map[string]bool{},
	}
}

// ReservationAge is the age at which a reservation becomes stale, if its user does not have the
// username. A naming takes milliseconds. One that takes longer than this age may lose its
// reservation to another user; its step 3 then fails.
const ReservationAge = 10 * time.Second

var (
	errUsernameTaken    = blog.AtField(blog.Errorf(blog.UsernameTaken, "This username is taken."), "username")
	errDeletionUnderWay = blog.Errorf(blog.DeletionUnderWay, "Your account's user is being deleted. Try again in a minute.")
	errHasUser          = blog.Errorf(blog.AccountHasUser, "Your account already has a user with another username. Rename it with `updateUser`.")
)

// run executes the naming until it succeeds or is rejected, and returns the user with the username.
// Errors: BAD_USER_INPUT, USERNAME_TAKEN, NOT_FOUND; TRY_AGAIN if every try lost a race;
// ACCOUNT_HAS_USER or DELETION_UNDER_WAY if an account with a user creates another one.
func (n *naming) run(ctx context.Context) (*blog.User, error) {
	if err := blog.AtField(blog.CheckUsername(n.username), "username"); err != nil {
		return nil, err
	}
	ctx = cosmos.InSession(ctx)
	user, err := n.retry(ctx)
	if err != nil && n.reserved {
		n.former[n.name] = true // release deletes it unless the user has or announces it
	}
	if err == nil || n.reserved || errors.Is(err, errHasUser) {
		n.release(ctx)
	}
	return user, err
}

// retry tries steps 1 to 3 until they succeed or are rejected.
func (n *naming) retry(ctx context.Context) (*blog.User, error) {
	tries := n.store.newTries()
	for {
		user, err := n.try(ctx, tries)
		if err == nil {
			return user.User(), nil
		}
		if err := tries.next(ctx, err); err != nil {
			return nil, err
		}
	}
}

// try executes steps 1 to 3 once, within CommandDeadline, and returns the user item with the
// username.
func (n *naming) try(ctx context.Context, tries *tries) (*schema.UserItem, error) {
	ctx, deadline, cancel := n.store.withDeadlineAfter(ctx, time.Time{})
	defer cancel()
	user, tombstone, err := n.readUser(ctx)
	if err != nil || n.isDone(user) {
		if err == nil && n.reserved { // by an earlier try of unknown outcome
			n.takes, n.posts = true, user.PostCount
		}
		return user, tries.decide(ctx, err, n.store.userAt(n.userID))
	}
	found, err := n.readReservation(ctx)
	if err != nil {
		return nil, err
	}
	if found.state == nameTaken {
		err := tries.decide(ctx, errUsernameTaken, place{n.store.usernames, n.name, n.name}, n.store.userAt(found.holder))
		if err == errUsernameTaken {
			n.withdraw(ctx, user)
		}
		return nil, err
	}
	if err := n.announce(ctx, user, tombstone); err != nil {
		return nil, err
	}
	if err := n.reserve(ctx, found, deadline); err != nil {
		return nil, err
	}
	err = n.take(ctx, user)
	n.takes, n.posts = err == nil, user.PostCount
	return user, err
}

// readUser returns the user item, or a new one that is not yet written. If the new user replaces
// the tombstone of a deleted one, tombstone is its etag.
func (n *naming) readUser(ctx context.Context) (user *schema.UserItem, tombstone azcore.ETag, err error) {
	user, etag, err := cosmos.Read[schema.UserItem](ctx, n.store.users, n.userID, n.userID)
	switch {
	case cosmos.IsNotFound(err) && n.creating:
		return n.newUser(0), "", nil
	case cosmos.IsNotFound(err):
		return nil, "", errNoUser
	case err != nil:
		return nil, "", err
	case user.Gone() && n.creating:
		return n.newUser(user.Revision), etag, nil
	case user.Gone():
		return nil, "", errNoUser
	case user.Deleted && n.creating:
		return nil, "", errDeletionUnderWay
	case user.Deleted:
		return nil, "", ErrBeingDeleted
	case !n.creating && user.Username == "":
		return nil, "", errNoUser
	case n.creating && user.Username != "" && blog.NormalizeUsername(user.Username) != n.name:
		return nil, "", errHasUser // a concurrent request of the same account created the user
	}
	if n.before == 0 {
		n.before = user.Revision
	}
	n.remember(user.Username)
	n.remember(user.PendingUsername)
	return user, "", nil
}

// newUser returns the item of a new user. Its revision continues that of a deleted user of the same
// id, so everything that is left of the deleted user stays older.
func (n *naming) newUser(revision int64) *schema.UserItem {
	created := n.created
	if created == "" {
		created = n.store.clock.Next()
	}
	return &schema.UserItem{ID: n.userID, UserID: n.userID, Type: schema.TypeUser, CreationDate: created, Revision: revision}
}

// remember records a username to release: the user may have reserved it and no longer needs it.
func (n *naming) remember(username string) {
	if name := blog.NormalizeUsername(username); name != "" && name != n.name {
		n.former[name] = true
	}
}

// isDone reports whether the user already has the username. The creation of a user is also done
// if a rename has begun since, or if the username differs only in case.
func (n *naming) isDone(user *schema.UserItem) bool {
	if n.creating {
		return blog.NormalizeUsername(user.Username) == n.name
	}
	return user.Username == n.username && user.PendingUsername == ""
}

// announce writes the wanted username to the user item (step 1).
func (n *naming) announce(ctx context.Context, user *schema.UserItem, tombstone azcore.ETag) (err error) {
	announced := user.PendingUsername == n.username
	user.PendingUsername = n.username
	switch {
	case tombstone != "":
		user.Revision++
		_, err = cosmos.Replace(ctx, n.store.users, n.userID, n.userID, user, tombstone)
		return err
	case user.Revision == 0:
		user.Revision++
		_, err = cosmos.Create(ctx, n.store.users, n.userID, user)
		return err
	case announced: // by an earlier try, or by a process that died
		return nil
	}
	var changes azcosmos.PatchOperations
	changes.AppendSet("/pendingUsername", n.username)
	err = n.store.patchUser(ctx, n.userID, user.Revision, changes)
	user.Revision++
	return err
}

// withdraw removes an announcement that cannot be fulfilled. If that fails, the next naming of the
// user does it.
func (n *naming) withdraw(ctx context.Context, user *schema.UserItem) {
	if blog.NormalizeUsername(user.PendingUsername) == n.name {
		_ = n.store.withdrawAnnouncement(ctx, user)
	}
}

// withdrawAnnouncement removes the announced username from a user item. Error: CONFLICT if the item
// changed since it was read.
func (s *Store) withdrawAnnouncement(ctx context.Context, user *schema.UserItem) error {
	var changes azcosmos.PatchOperations
	changes.AppendRemove("/pendingUsername")
	return s.patchUser(ctx, user.ID, user.Revision, changes)
}

// reservation is the state of a username in usernames, as one naming sees it.
type reservation struct {
	state  nameState
	holder string           // id of the user it is reserved for; "" with nameFree
	etag   azcore.ETag      // "" with nameFree
	owner  *schema.UserItem // of a stale reservation; nil if there is no such user
}

// nameState is the state of a username for one naming.
type nameState int

const (
	nameFree  nameState = iota // there is no reservation
	nameMine                   // reserved for the user of the naming
	nameStale                  // reserved long ago, for a user who does not have the username
	nameTaken                  // another user has the username, or may be about to take it
)

// readReservation reads the state of the username.
func (n *naming) readReservation(ctx context.Context) (reservation, error) {
	item, etag, err := cosmos.Read[schema.ReservationItem](ctx, n.store.usernames, n.name, n.name)
	if cosmos.IsNotFound(err) {
		return reservation{state: nameFree}, nil
	}
	if err != nil {
		return reservation{}, err
	}
	if item.UserID == n.userID {
		return reservation{state: nameMine, holder: item.UserID, etag: etag}, nil
	}
	owner, _, err := cosmos.Read[schema.UserItem](ctx, n.store.users, item.UserID, item.UserID)
	if err != nil && !cosmos.IsNotFound(err) {
		return reservation{}, err
	}
	young := n.store.db.Now().Sub(item.CreationDate.Time()) < ReservationAge
	if young || owner != nil && blog.NormalizeUsername(owner.Username) == n.name {
		return reservation{state: nameTaken, holder: item.UserID}, nil
	}
	return reservation{state: nameStale, holder: item.UserID, etag: etag, owner: owner}, nil
}

// reserve writes the reservation of the username (step 2). It also rewrites a reservation that the
// user already has. Another request that read the old one, to take it over or to delete it, then
// fails on its etag. deadline is that of the try, in milliseconds of the database's time.
func (n *naming) reserve(ctx context.Context, found reservation, deadline int64) error {
	n.reserved = true
	if found.owner != nil && blog.NormalizeUsername(found.owner.PendingUsername) == n.name {
		if err := n.store.withdrawAnnouncement(ctx, found.owner); err != nil {
			return err
		}
	}
	a, _, err := n.store.execute(ctx, schema.ReserveUsername, n.name, reserveUsernameArgument{
		ReservationItem: schema.ReservationItem{ID: n.name, UserID: n.userID, CreationDate: blog.NewDateTime(n.store.db.Now())},
		ETag:            found.etag,
		Deadline:        deadline,
	})
	if err != nil {
		return err
	}
	return reserveRejections.of(a)
}

// take sets the username on the user item (step 3), if the item is as step 1 left it.
func (n *naming) take(ctx context.Context, user *schema.UserItem) error {
	var changes azcosmos.PatchOperations
	changes.AppendSet("/username", n.username)
	changes.AppendRemove("/pendingUsername")
	err := n.store.patchUser(ctx, n.userID, user.Revision, changes)
	user.Username, user.PendingUsername = n.username, ""
	user.Revision++
	return err
}

// release deletes the reservations of the former usernames (step 4). A reservation whose deletion
// keeps failing stays until the projector frees it at the end of the user's sweep, or another user
// takes the username over. Both take a while, so failures of unknown outcome are retried.
func (n *naming) release(ctx context.Context) {
	for name := range n.former {
		tries := n.store.newTries()
		for {
			err := n.store.releaseUsername(ctx, n.userID, name)
			if !cosmos.OutcomeUnknown(ctx, err) || tries.next(ctx, err) != nil {
				break
			}
		}
	}
}

// releaseUsername deletes the reservation of a user who neither has nor announces the username. It
// reads the reservation first, then makes the session current, and then reads the user: a user who
// announces the username after that rewrites the reservation, and the deletion fails on its etag.
func (s *Store) releaseUsername(ctx context.Context, userID, name string) error {
	item, etag, err := cosmos.Read[schema.ReservationItem](ctx, s.usernames, name, name)
	if err != nil || item.UserID != userID {
		return err
	}
	user, _, err := cosmos.ReadLatest[schema.UserItem](ctx, s.users, userID)
	if err != nil {
		return err
	}
	if blog.NormalizeUsername(user.Username) == name || blog.NormalizeUsername(user.PendingUsername) == name {
		return nil
	}
	return cosmos.Delete(ctx, s.usernames, name, name, etag)
}

// patchUser patches a user item whose revision is still the given one, and increments the revision.
// The etag cannot be the condition, because it also changes if the projector counts a post, and
// users who publish often could not be renamed. Error: CONFLICT if the revision has changed.
func (s *Store) patchUser(ctx context.Context, userID string, revision int64, changes azcosmos.PatchOperations) error {
	changes.AppendIncrement("/revision", 1)
	return cosmos.PatchIf(ctx, s.users, userID, userID, fmt.Sprintf("c.type = 'user' and c.revision = %d", revision), changes)
}

// RestoreReservation reserves a user's username for them again, as a naming of the same username
// would. It changes nothing if another user has the username as well: only these two can decide who
// is renamed. A user who is renamed meanwhile does not need the reservation.
func (s *Store) RestoreReservation(ctx context.Context, userID string) error {
	ctx, deadline, cancel := s.withDeadlineAfter(ctx, time.Time{})
	defer cancel()
	user, _, err := cosmos.Read[schema.UserItem](ctx, s.users, userID, userID)
	if err != nil || !user.Visible() {
		return err
	}
	n := s.newNaming(userID, user.Username)
	found, err := n.readReservation(ctx)
	if err != nil || found.state == nameTaken || found.state == nameMine {
		return err
	}
	if err := n.reserve(ctx, found, deadline); err != nil {
		return err
	}
	return s.ReclaimUsername(ctx, n.name)
}

// ReclaimUsername deletes the reservation of a normalized username that its user neither has nor
// announces, or whose user does not exist. It changes nothing otherwise.
func (s *Store) ReclaimUsername(ctx context.Context, name string) error {
	ctx = cosmos.InSession(ctx)
	item, etag, err := cosmos.Read[schema.ReservationItem](ctx, s.usernames, name, name)
	if cosmos.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	err = s.releaseUsername(ctx, item.UserID, name)
	if cosmos.IsNotFound(err) { // there is no such user
		err = cosmos.Delete(ctx, s.usernames, name, name, etag)
	}
	if cosmos.IsRaceLost(err) {
		return nil
	}
	return err
}
