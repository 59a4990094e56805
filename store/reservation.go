package store

import (
	"context"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"cosmosblog/internal/blog"
)

// reservationAge is how long a reservation is left to a user who does not yet bear the name. A naming takes
// milliseconds, and its request is given up before this.
const reservationAge = 10 * time.Second

// claim is who has a name, as far as it concerns one naming.
type claim struct {
	state nameState
	etag  azcore.ETag // of the reservation
	owner *userItem   // with nameStale: whose reservation it is; nil where there is no such user
}

type nameState int

const (
	nameFree  nameState = iota // no reservation
	nameMine                   // reserved for the same user
	nameStale                  // reserved for somebody who does not bear it, long ago
	nameTaken                  // somebody bears it, or may be about to
)

// look finds out who has the name.
func (n *naming) look(ctx context.Context) (claim, error) {
	reservation, etag, err := read[reservationItem](ctx, n.store.usernames, n.name, n.name)
	if isNotFound(err) {
		return claim{state: nameFree}, nil
	}
	if err != nil {
		return claim{}, err
	}
	if reservation.UserID == n.userID {
		return claim{state: nameMine, etag: etag}, nil
	}
	owner, _, err := read[userItem](ctx, n.store.users, reservation.UserID, reservation.UserID)
	if err != nil && !isNotFound(err) {
		return claim{}, err
	}
	young := n.store.now().Sub(reservation.CreationDate.Time()) < reservationAge
	if young || owner != nil && blog.NormalizeUsername(owner.Username) == n.name {
		return claim{state: nameTaken}, nil
	}
	return claim{state: nameStale, etag: etag, owner: owner}, nil
}

// reserve reserves the name for the user (step 2). A reservation that the user has already is written anew: whoever
// has read it, to take it over or to delete it as a former name's, then finds another etag.
func (n *naming) reserve(ctx context.Context, claim claim) error {
	reservation := reservationItem{ID: n.name, UserID: n.userID, CreationDate: blog.NewDateTime(n.store.now())}
	n.reserved = true
	if claim.state == nameFree {
		_, err := create(ctx, n.store.usernames, n.name, reservation)
		return err
	}
	if claim.owner != nil && blog.NormalizeUsername(claim.owner.PendingUsername) == n.name {
		if err := n.store.cancelWish(ctx, claim.owner); err != nil {
			return err
		}
	}
	_, err := replace(ctx, n.store.usernames, n.name, n.name, reservation, claim.etag)
	return err
}

// releaseFormer deletes the reservations of the names that the user bore or wanted before (step 4). What fails in the end
// is left: whoever wants such a name takes it over, but not before it is old enough, so it is tried more than once.
func (n *naming) releaseFormer(ctx context.Context) {
	for name, former := range n.former {
		for try := 1; former; try++ {
			err := n.store.release(ctx, n.userID, name)
			former = outcomeUnknown(ctx, err) && n.store.again.after(ctx, try)
		}
	}
}

// release deletes a reservation of a user who neither bears nor wants the name. The reservation is read before the
// user: if the user begins to want the name after that, the reservation is written anew before it is believed, and the
// deletion fails.
func (s *Store) release(ctx context.Context, userID, name string) error {
	reservation, etag, err := read[reservationItem](ctx, s.usernames, name, name)
	if err != nil || reservation.UserID != userID {
		return err
	}
	user, _, err := read[userItem](ctx, s.users, userID, userID)
	if err != nil {
		return err
	}
	if blog.NormalizeUsername(user.Username) == name || blog.NormalizeUsername(user.PendingUsername) == name {
		return nil
	}
	return remove(ctx, s.usernames, name, name, etag)
}

// free deletes the reservation that a deleted user may have of a username.
func (s *Store) free(ctx context.Context, userID, username string) error {
	name := blog.NormalizeUsername(username)
	if name == "" {
		return nil
	}
	reservation, etag, err := read[reservationItem](ctx, s.usernames, name, name)
	if err == nil && reservation.UserID == userID {
		err = remove(ctx, s.usernames, name, name, etag)
	}
	if isNotFound(err) {
		return nil
	}
	return err
}
