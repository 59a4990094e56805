package audit

import (
	"context"

	"cosmosblog/store"
	"cosmosblog/store/schema"
)

// compareReservation checks that the user of a reservation has or announces the username. It
// skips a reservation younger than ReservationAge, whose naming may still be running.
func (c comparer) compareReservation(ctx context.Context, name string) ([]Drift, error) {
	reservation, err := c.readReservation(ctx, name)
	switch {
	case err != nil || reservation == nil:
		return nil, err
	case reservation.unreadable != nil:
		d, _ := reservation.unreadableDrift(schema.Usernames, name)
		return []Drift{d}, nil
	case c.db.Now().Sub(reservation.CreationDate.Time()) < store.ReservationAge:
		return nil, nil
	}
	users, err := c.readUsers(ctx, []string{reservation.UserID})
	if err != nil {
		return nil, err
	}
	user := users[reservation.UserID]
	if user != nil && user.hasName(name) {
		return nil, nil
	}
	d := reservation.drift(DriftReclaimable, schema.Usernames, name)
	d = d.withValues("userId", reservation.UserID, "")
	if user != nil {
		d = d.withSource(user.Revision)
	}
	return c.dropReclaimed(ctx, d)
}

func (c comparer) readReservation(ctx context.Context, name string) (*auditedItem, error) {
	reservation, err := c.readItem(ctx, c.usernames, name, name)
	if reservation != nil {
		reservationForm.check(reservation)
	}
	return reservation, err
}

// dropReclaimed drops the drift of a reservation that the last pass of a pending sweep will delete,
// or that one has deleted meanwhile.
func (c comparer) dropReclaimed(ctx context.Context, d Drift) ([]Drift, error) {
	drifts, err := c.dropPending(ctx, []Drift{d})
	if err != nil || len(drifts) == 0 || !c.isFresh() {
		return drifts, err
	}
	reservation, err := c.readItem(ctx, c.usernames, d.ID, d.ID)
	if err != nil || reservation == nil {
		return nil, err
	}
	return drifts, nil
}
