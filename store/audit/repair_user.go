package audit

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/store/chores"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// repairUser corrects drifts in one partition of users and in the reservation of the username.
func (r repairer) repairUser(ctx context.Context, userID string, drifts []Drift) error {
	recount := false
	for _, d := range drifts {
		var err error
		switch d.Kind {
		case DriftOrphan, DriftDuplicate:
			recount = true
			err = d.removeItem(ctx, r.users)
		case DriftCount:
			recount = true
		case DriftExpiry:
			err = r.repairUserExpiry(ctx, userID, d)
		case DriftReservation:
			if d.item.unreadable != nil { // whose it was cannot be known
				err = d.removeItem(ctx, r.usernames)
			}
			if err != nil {
				return err
			}
			err = r.store.RestoreReservation(ctx, userID)
		}
		if err != nil && !cosmos.IsItemError(err) {
			return err
		}
	}
	if !recount {
		return nil
	}
	return cosmos.RetryOnConflict(func() error { return r.recountUser(ctx, userID) })
}

// recountUser sets a user's postCount to the number of live copies. Every copy that comes or
// goes also changes the user's etag, so a concurrent change makes the write fail. Error:
// CONFLICT in that case.
func (r repairer) recountUser(ctx context.Context, userID string) error {
	user, err := r.readItem(ctx, r.users, userID, userID)
	if err != nil || user == nil || user.Deleted {
		return err
	}
	userForm.check(user)
	p, err := newComparer(r.database).readUserPartition(ctx, userID)
	if err != nil || user.PostCount != nil && *user.PostCount == p.liveCopies() {
		return err
	}
	var changes azcosmos.PatchOperations
	changes.AppendSet("/postCount", p.liveCopies())
	_, err = cosmos.Patch(ctx, r.users, userID, userID, changes, user.ETag)
	return err
}

// repairUserExpiry records the deletion of a deleted user that was never recorded. For a copy,
// it sets the ttl of a tombstone. It removes the ttl of any live item.
func (r repairer) repairUserExpiry(ctx context.Context, userID string, d Drift) error {
	if d.item.Deleted && d.item.Type == schema.TypeUser {
		deletion := chores.Deletion{UserID: userID, Revision: d.item.Revision}
		return r.chores.RecordDeletion(ctx, deletion)
	}
	return d.correctTTL(ctx, r.users)
}
