package chores

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

// Deletion is the pending work for a deleted user: their posts, comments and likes have to be
// deleted, and then their usernames become free. It is stored in the container leases until it is
// done. It takes at least two passes, because a command that read the user before the deletion may
// write an item after the first pass.
type Deletion struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	UserID   string `json:"userId"`
	Revision int64  `json:"revision"`        // of the deleted user; all items of the user have a smaller one
	Last     bool   `json:"last"`            // the first pass is done
	ETag     string `json:"_etag,omitempty"` // as read; every write changes it
}

const (
	deletionsQuery = `SELECT * FROM c WHERE c.type = 'deletion'`

	// Items with a ttl are done. The others are not deleted yet, or still wait for their ttl.
	leftQuery = `SELECT c.id, c.postId, c.type, c.deleted, c.authorRevision FROM c WHERE c.userId = @userId` +
		` AND c.authorRevision < @revision AND NOT IS_DEFINED(c.ttl)`

	leftUndeletedQuery = leftQuery + ` AND (c.type = 'like' OR c.deleted = false)`
)

// Deletions returns all pending deletions, in no order.
func (c *Chores) Deletions(ctx context.Context) ([]Deletion, error) {
	return cosmos.QueryAcross[Deletion](ctx, c.leases, deletionsQuery)
}

// RecordDeletion writes a pending deletion, unless there is one for the same or a later revision of
// the user.
func (c *Chores) RecordDeletion(ctx context.Context, deletion Deletion) error {
	id := schema.DeletionID(deletion.UserID)
	return cosmos.RetryOnConflict(func() error {
		current, etag, err := cosmos.Read[Deletion](ctx, c.leases, id, id)
		switch {
		case cosmos.IsNotFound(err):
			_, err = cosmos.Create(ctx, c.leases, id, deletion.item())
		case err == nil && current.Revision < deletion.Revision:
			_, err = cosmos.Replace(ctx, c.leases, id, id, deletion.item(), etag)
		}
		return err
	})
}

// Remainder is an item of a deleted user that is not done.
type Remainder struct {
	ID      string `json:"id"`
	PostID  string `json:"postId"`
	Type    string `json:"type"`
	Deleted bool   `json:"deleted"`

	AuthorRevision int64 `json:"authorRevision"`
}

// DeletionPass returns a pass of a deletion. Each of its steps deletes one item of the user in
// posts, by the same commands as users do. The steps return the number of items found. A last pass
// also finds deleted items that still wait for their ttl. One query is enough, because passes are
// repeated until one finds nothing.
//
// Before each page, the pass reads the user. Error: CONFLICT if a replica returns a user who is not
// deleted. The pass then changes nothing more.
func (c *Chores) DeletionPass(deletion Deletion) Pass {
	return func(ctx context.Context, p *Progress) error {
		query, isChecked := c.remainders(deletion), false
		for query.more() {
			if !isChecked {
				err := p.do(ctx, func(ctx context.Context) error { return c.checkUserDeleted(ctx, deletion) })
				if err != nil {
					return err
				}
			}
			rows, err := query.next(ctx, p, pageSize)
			if err != nil {
				return err
			}
			if err := eachOf(ctx, p, rows, func(row Remainder) step { return c.deletionStep(deletion.UserID, row) }); err != nil {
				return err
			}
			isChecked = len(rows) == 0 // steps take time
		}
		return p.refusals()
	}
}

// remainders queries the items that a pass of a deletion has to find.
func (c *Chores) remainders(deletion Deletion) *rowQuery[Remainder] {
	text := leftUndeletedQuery
	if deletion.Last {
		text = leftQuery
	}
	return &rowQuery[Remainder]{container: c.posts, text: text, parameters: []azcosmos.QueryParameter{
		{Name: "@userId", Value: deletion.UserID}, {Name: "@revision", Value: deletion.Revision},
	}}
}

func (c *Chores) deletionStep(userID string, row Remainder) step {
	return func(ctx context.Context) (int, bool, error) {
		if row.Deleted {
			return 1, false, nil
		}
		err := c.DeleteRemainder(ctx, userID, row)
		if err != nil && !(row.Type == schema.TypeLike && blog.CodeOf(err) == blog.TryAgain) {
			return 0, false, err
		}
		return 1, false, nil // a like that was renamed since the query is left to the next pass
	}
}

// checkUserDeleted returns CONFLICT if the user is not deleted: the database has lost the deletion,
// or the id belongs to a new user of the same account, whose revisions restarted at 1, because the
// tombstone had expired or users was recreated. The items of that user would then count as items of
// the deleted one.
func (c *Chores) checkUserDeleted(ctx context.Context, deletion Deletion) error {
	user, _, err := cosmos.Read[schema.UserItem](ctx, c.users, deletion.UserID, deletion.UserID)
	switch {
	case cosmos.IsNotFound(err):
		return nil
	case err == nil && !user.Deleted:
		return blog.Errorf(blog.Conflict, "The items of a user who is not deleted cannot be deleted.")
	}
	return err
}

// DeleteRemainder deletes one item by the command that users send. A missing item is no error: it
// was deleted with its post, or by another worker.
func (c *Chores) DeleteRemainder(ctx context.Context, userID string, row Remainder) (err error) {
	ctx = cosmos.WithSession(ctx) // DeleteOrphan reads the post from a replica as recent as the procedure's
	switch row.Type {
	case schema.TypePost:
		_, err = c.store.MarkPostDeleted(ctx, &schema.PostItem{ID: row.ID, PostID: row.PostID})
	case schema.TypeComment:
		_, err = c.store.DeleteComment(ctx, userID, row.PostID, row.ID)
	case schema.TypeLike:
		err = c.store.RemoveLike(ctx, userID, row.PostID, row.AuthorRevision)
	}
	if cosmos.IsNotFound(err) && row.Type != schema.TypePost {
		return c.DeleteOrphan(ctx, row)
	}
	return unlessRaceLost(err)
}

// DeleteOrphan deletes a comment or like without a procedure if its post does not exist, or is
// deleted and has its ttl. An interrupted copy of a database leaves such items, and the procedures
// reject them. If the post is deleted but has no ttl yet, its purge deletes them. An item that
// changed meanwhile stays, because the copy of the database has resumed.
func (c *Chores) DeleteOrphan(ctx context.Context, row Remainder) error {
	_, etag, err := cosmos.Read[Remainder](ctx, c.posts, row.PostID, row.ID)
	if cosmos.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	post, _, err := cosmos.Read[schema.PostItem](ctx, c.posts, row.PostID, row.PostID)
	switch {
	case cosmos.IsNotFound(err):
	case err != nil || !post.Deleted || post.TTL == 0:
		return err
	}
	return unlessRaceLost(cosmos.Delete(ctx, c.posts, row.PostID, row.ID, etag))
}

// FinishFirstDeletionPass records the end of the first pass. If a later deletion has replaced this
// one, it changes nothing.
func (c *Chores) FinishFirstDeletionPass(ctx context.Context, deletion Deletion) error {
	id, etag := schema.DeletionID(deletion.UserID), azcore.ETag(deletion.ETag)
	deletion.Last = true
	_, err := cosmos.Replace(ctx, c.leases, id, id, deletion.item(), etag)
	return unlessRaceLost(err)
}

// FinishDeletion ends a deletion whose last pass found nothing. It frees the usernames, turns the
// user item into a tombstone, and forgets the deletion. It can be interrupted anywhere and
// repeated.
//
// It changes the user item only if its revision is the deletion's. After the tombstone, the account
// may have a new user, whose deletion is a separate item.
func (c *Chores) FinishDeletion(ctx context.Context, deletion Deletion) error {
	ctx = cosmos.InSession(ctx)
	user, etag, err := cosmos.ReadLatest[schema.UserItem](ctx, c.users, deletion.UserID)
	switch {
	case err == nil && user.Deleted && !user.Gone() && user.Revision == deletion.Revision:
		err = c.endUser(ctx, user, etag)
	case cosmos.IsNotFound(err):
		err = nil // finished before, and expired
	}
	if err != nil {
		return err
	}
	return c.forget(ctx, schema.DeletionID(deletion.UserID), deletion.ETag)
}

// endUser writes the tombstone last. Until then the account cannot get a new user, so all
// reservations with this user id belong to the deleted user.
func (c *Chores) endUser(ctx context.Context, user *schema.UserItem, etag azcore.ETag) error {
	if err := c.freeUsernames(ctx, user.ID, user.Username, user.PendingUsername); err != nil {
		return err
	}
	// After the tombstone has expired, the revisions of the account's next user begin at 1. The sweep
	// of this user would then seem later than theirs.
	if err := c.deleteSweep(ctx, user.ID); err != nil {
		return err
	}
	_, err := cosmos.Replace(ctx, c.users, user.ID, user.ID, schema.UserItem{
		ID:           user.ID,
		UserID:       user.ID,
		Type:         schema.TypeUser,
		CreationDate: user.CreationDate,
		Revision:     user.Revision + 1,
		Deleted:      true,
		TTL:          int32(views.DeletedTTL.Seconds()),
	}, etag)
	return err
}

// deleteSweep deletes a user's sweep, pending or done, if it does not change meanwhile. Otherwise,
// another worker may have ended the deletion, and the sweep may be of the account's next user.
func (c *Chores) deleteSweep(ctx context.Context, userID string) error {
	id := schema.SweepID(userID)
	_, etag, err := cosmos.ReadLatest[Sweep](ctx, c.leases, id)
	if err == nil {
		err = cosmos.Delete(ctx, c.leases, id, id, etag)
	}
	if cosmos.IsNotFound(err) {
		return nil
	}
	return err
}

// freeUsername deletes the reservation of a normalized username if it belongs to the deleted user.
func (c *Chores) freeUsername(ctx context.Context, userID, name string) error {
	reservation, etag, err := cosmos.Read[schema.ReservationItem](ctx, c.usernames, name, name)
	if err == nil && reservation.UserID == userID {
		err = cosmos.Delete(ctx, c.usernames, name, name, etag)
	}
	if cosmos.IsNotFound(err) {
		return nil
	}
	return err
}

func (d Deletion) item() Deletion {
	d.ID, d.Type, d.ETag = schema.DeletionID(d.UserID), schema.TypeDeletion, ""
	return d
}
