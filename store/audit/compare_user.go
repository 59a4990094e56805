package audit

import (
	"context"

	"cosmosblog/blog"
	"cosmosblog/store"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// userPartitionQuery omits the properties that copies have from their posts.
const userPartitionQuery = `SELECT c.id, c.userId, c.postId, c.type, c.username, c.pendingUsername, c.creationDate,` +
	` c.postCount, c.revision, c.deleted, c.unlisted, c.ttl, c._etag FROM c`

// compareUser compares one partition of users: the user's counter, the reservation of the username,
// what a deletion should have removed, and whether each copy has a source. comparePost compares the
// properties of the copies.
func (c comparer) compareUser(ctx context.Context, userID string) ([]Drift, error) {
	items, err := c.readPartition(ctx, schema.Users, userID, userPartitionQuery)
	if err != nil {
		return nil, err
	}
	user, live := absentItem(schema.Users, cosmos.Address{Partition: userID, ID: userID}), 0
	var copies []*auditedItem
	for _, item := range items {
		if item.ID == userID {
			user = item
			continue
		}
		copies = append(copies, item)
		if item.unreadable == nil && !item.Deleted {
			live++
		}
	}
	drifts, err := c.compareStrays(ctx, copies, func(_, _ *auditedItem) []Drift { return nil })
	switch {
	case err != nil || !user.exists():
		return drifts, err
	case user.unreadable != nil:
		return append(drifts, user.unreadableDrift()), nil
	case user.Deleted:
		return append(drifts, user.expiryDrifts()...), nil
	}
	drifts = append(drifts, user.propertyDrifts(DriftCount, "postCount", live)...)
	drifts = append(drifts, user.expiryDrifts()...)
	if user.Username == "" {
		return drifts, nil
	}
	name := blog.NormalizeUsername(user.Username)
	reservation, err := c.readItem(ctx, schema.Usernames, name, name)
	if err == nil && (reservation.unreadable != nil || reservation.UserID != userID) {
		d := reservation.drift(DriftReservation, user)
		drifts = append(drifts, d.withValues("userId", reservation.text("userId"), userID))
	}
	return drifts, err
}

// compareReservation checks that the user of a reservation has or announces the username. An
// unreadable user may have it. It skips a reservation younger than ReservationAge, whose naming may
// still be running.
func (c comparer) compareReservation(ctx context.Context, name string) ([]Drift, error) {
	reservation, err := c.readItem(ctx, schema.Usernames, name, name)
	switch {
	case err != nil || !reservation.exists():
		return nil, err
	case reservation.unreadable != nil:
		return []Drift{reservation.unreadableDrift()}, nil
	case c.db.Now().Sub(reservation.CreationDate.Time()) < store.ReservationAge:
		return nil, nil
	}
	users, err := c.readUsers(ctx, []string{reservation.UserID})
	if err != nil {
		return nil, err
	}
	user := users[reservation.UserID]
	if user.unreadable != nil || blog.NormalizeUsername(user.Username) == name || blog.NormalizeUsername(user.PendingUsername) == name {
		return nil, nil
	}
	return []Drift{reservation.drift(DriftReclaimable, user).withValues("userId", reservation.UserID, nil)}, nil
}
