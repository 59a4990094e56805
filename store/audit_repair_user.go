package store

import (
	"context"

	"cosmosblog/internal/blog"
)

// mendUser mends one partition of users, and who has the user's username.
func (m mender) mendUser(ctx context.Context, userID string, drifts []Drift) error {
	recount := false
	for _, d := range drifts {
		var err error
		switch d.Kind {
		case DriftOrphan, DriftDuplicate:
			recount = true
			err = d.removeItem(ctx, m.users)
		case DriftCount:
			recount = true
		case DriftExpiry:
			err = m.mendUserExpiry(ctx, userID, d)
		case DriftReservation:
			err = m.reserveAgain(ctx, userID)
		}
		if err != nil && !ConcernsItem(err) {
			return err
		}
	}
	if !recount {
		return nil
	}
	return whileOutrun(func() error { return m.recountUser(ctx, userID) })
}

// recountUser sets a user's postCount to what there is. The etag of the user changes whenever a copy comes or goes.
func (m mender) recountUser(ctx context.Context, userID string) error {
	user, err := m.readAudited(ctx, m.users, userID, userID)
	if err != nil || user == nil || user.Deleted {
		return err
	}
	s, err := look{Store: m.Store}.shelf(ctx, userID)
	if err != nil || user.PostCount != nil && *user.PostCount == s.live() {
		return err
	}
	return setProperty(ctx, m.users, userID, userID, "/postCount", s.live(), user.ETag)
}

// mendUserExpiry has a deleted user deleted whose deletion was never written down, gives a tombstone its end, and takes the end
// of what is live away.
func (m mender) mendUserExpiry(ctx context.Context, userID string, d Drift) error {
	switch {
	case !d.item.Deleted:
		return setProperty(ctx, m.users, userID, d.ID, "/ttl", nil, d.item.ETag)
	case d.item.Type == typeUser:
		return m.RecordDeletion(ctx, Deletion{UserID: userID, Revision: d.item.Revision})
	}
	return setProperty(ctx, m.users, userID, d.ID, "/ttl", int(DeletedTTL.Seconds()), d.item.ETag)
}

// reserveAgain reserves a user's username for them, as in a naming of the same name. Where somebody else bears the name
// as well, nobody but the two can tell who is to be renamed. A user who is renamed meanwhile no longer needs it.
func (m mender) reserveAgain(ctx context.Context, userID string) error {
	user, _, err := read[userItem](ctx, m.users, userID, userID)
	if err != nil || !user.visible() {
		return err
	}
	n := &naming{store: m.Store, userID: userID, username: user.Username, name: blog.NormalizeUsername(user.Username)}
	claim, err := n.look(ctx)
	if err != nil || claim.state == nameTaken || claim.state == nameMine {
		return err
	}
	if err := n.reserve(ctx, claim); err != nil {
		return err
	}
	return m.reclaim(ctx, n.name)
}

// reclaim deletes a reservation whose user neither bears nor wants the name. It is read before its user: one who begins to
// want the name after that writes it anew.
func (m mender) reclaim(ctx context.Context, name string) error {
	reservation, etag, err := read[reservationItem](ctx, m.usernames, name, name)
	if isNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	err = m.release(ctx, reservation.UserID, name)
	if isNotFound(err) { // there is no such user
		err = remove(ctx, m.usernames, name, name, etag)
	}
	if isOutrun(err) {
		return nil
	}
	return err
}
