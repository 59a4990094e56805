package chores

import (
	"context"

	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// ForgetLostWork deletes the pending sweeps and deletions that may be of renames and deletions that
// the database has lost, after it went back to an earlier state. What is in progress of them ends
// after some seconds. A rebuild that begins after that, and after the commands of before have
// ended, does what is then left. ForgetLostWork may run at any time before: it reads the latest
// state of each user who has pending work.
func (c *Chores) ForgetLostWork(ctx context.Context) error {
	sweeps, err := c.Sweeps(ctx)
	if err != nil {
		return err
	}
	for _, sweep := range sweeps {
		if err := forgetIfLost(ctx, c, schema.SweepID(sweep.UserID), sweep.UserID, isSweepLost); err != nil {
			return err
		}
	}
	deletions, err := c.Deletions(ctx)
	if err != nil {
		return err
	}
	for _, deletion := range deletions {
		if err := forgetIfLost(ctx, c, schema.DeletionID(deletion.UserID), deletion.UserID, isDeletionLost); err != nil {
			return err
		}
	}
	return nil
}

// isSweepLost reports whether a user, who may be nil, is not in the state that is swept. If the
// user is in a later one, nobody knows whether that came after the swept one, or after a loss.
func isSweepLost(sweep *Sweep, user *schema.UserItem) bool {
	return user == nil || user.Revision != sweep.AuthorRevision || user.Username != sweep.Username
}

// isDeletionLost reports whether a user is not deleted, or was deleted in an earlier revision after
// the loss.
func isDeletionLost(deletion *Deletion, user *schema.UserItem) bool {
	return user != nil && (!user.Deleted || !user.Gone() && user.Revision < deletion.Revision)
}

// forgetIfLost deletes an item of leases if isLost says so of its latest state and the latest state
// of a user, which is nil if there is none.
func forgetIfLost[T any](ctx context.Context, c *Chores, id, userID string, isLost func(*T, *schema.UserItem) bool) error {
	ctx = cosmos.WithSession(ctx)
	return cosmos.RetryOnConflict(func() error {
		work, etag, err := cosmos.ReadLatest[T](ctx, c.leases, id)
		if cosmos.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		user, _, err := cosmos.ReadLatest[schema.UserItem](ctx, c.users, userID)
		if cosmos.IsNotFound(err) {
			user, err = nil, nil
		}
		if err != nil || !isLost(work, user) {
			return err
		}
		return cosmos.Delete(ctx, c.leases, id, id, etag)
	})
}
