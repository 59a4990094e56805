package audit

import (
	"context"

	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
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
			err = m.store.RestoreReservation(ctx, userID)
		}
		if err != nil && !cosmos.IsItemError(err) {
			return err
		}
	}
	if !recount {
		return nil
	}
	return cosmos.RetryOnConflict(func() error { return m.recountUser(ctx, userID) })
}

// recountUser sets a user's postCount to what there is. The etag of the user changes whenever a copy comes or goes.
func (m mender) recountUser(ctx context.Context, userID string) error {
	user, err := m.readAudited(ctx, m.users, userID, userID)
	if err != nil || user == nil || user.Deleted {
		return err
	}
	s, err := look{database: m.database}.shelf(ctx, userID)
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
	case d.item.Type == schema.TypeUser:
		return m.views.RecordDeletion(ctx, views.Deletion{UserID: userID, Revision: d.item.Revision})
	}
	return setProperty(ctx, m.users, userID, d.ID, "/ttl", int(views.DeletedTTL.Seconds()), d.item.ETag)
}
