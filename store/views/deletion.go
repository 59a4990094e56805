package views

import (
	"context"
	"sync/atomic"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/internal/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// Deletion is the work that a deleted user leaves behind: their posts, comments and likes must go, then their usernames
// become free. It is kept in leases until it is done, which takes two passes at least: a command that read the user just
// before the deletion may write just after the first.
type Deletion struct {
	UserID   string
	Revision int64  // of the user as deleted: what is theirs carries a smaller one
	Last     bool   // the first pass is done
	ETag     string // as it was read; another with every write
}

const (
	typeDeletion = "deletion"

	deletionsQuery = `SELECT * FROM c WHERE c.type = 'deletion'`

	// What has a ttl is done. The rest is to be deleted yet, or waits for what follows from its deletion.
	leftQuery = `SELECT c.id, c.postId, c.type, c.deleted FROM c WHERE c.userId = @userId` +
		` AND c.authorRevision < @revision AND NOT IS_DEFINED(c.ttl)`

	leftUndeletedQuery = leftQuery + ` AND (c.type = 'like' OR c.deleted = false)`
)

type deletionItem struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	UserID   string `json:"userId"`
	Revision int64  `json:"revision"`
	Last     bool   `json:"last"`
	ETag     string `json:"_etag,omitempty"`
}

// Deletions lists all pending deletions, in no order.
func (s *Views) Deletions(ctx context.Context) ([]Deletion, error) {
	items, err := cosmos.QueryAcross[deletionItem](ctx, s.leases, deletionsQuery)
	deletions := make([]Deletion, len(items))
	for i, item := range items {
		deletions[i] = item.deletion()
	}
	return deletions, err
}

// RecordDeletion writes a pending deletion. Where one for the same or a later revision of the user is there, nothing is
// written.
func (s *Views) RecordDeletion(ctx context.Context, deletion Deletion) error {
	id := DeletionID(deletion.UserID)
	return cosmos.RetryOnConflict(func() error {
		current, etag, err := cosmos.Read[deletionItem](ctx, s.leases, id, id)
		switch {
		case cosmos.IsNotFound(err):
			_, err = cosmos.Create(ctx, s.leases, id, deletion.item())
		case err == nil && current.Revision < deletion.Revision:
			_, err = cosmos.Replace(ctx, s.leases, id, id, deletion.item(), etag)
		}
		return err
	})
}

// Remainder is an item of a deleted user that is not done with.
type Remainder struct {
	ID      string `json:"id"`
	PostID  string `json:"postId"`
	Type    string `json:"type"`
	Deleted bool   `json:"deleted"`
}

// Delete runs one pass: it deletes what there is of the user in posts, at a pace, as the user would have. It gives how much
// it found; by a last pass, also what was deleted before, but not yet all that hangs on it. Where more is true it was laid
// down before its end, so that others come in turn. It can be run again at any time, also where it was broken off. Errors:
// as those of Sweep; CONFLICT where the user is there and not deleted, as far as is known here: then nothing is done.
func (s *Views) Delete(ctx context.Context, deletion Deletion, pace *Throttler) (n int, more bool, err error) {
	if err := pace.do(ctx, func() error { return s.mayDelete(ctx, deletion) }); err != nil {
		return 0, false, err
	}
	text := leftUndeletedQuery
	if deletion.Last {
		text = leftQuery
	}
	var found atomic.Int64
	more, err = eachAtPace(ctx, s, pace, text, []azcosmos.QueryParameter{
		{Name: "@userId", Value: deletion.UserID},
		{Name: "@revision", Value: deletion.Revision},
	}, func(ctx context.Context, row Remainder) error {
		if !row.Deleted {
			if err := s.DeleteRemainder(ctx, deletion.UserID, row); err != nil {
				return err
			}
		}
		found.Add(1)
		return nil
	})
	return int(found.Load()), more, err
}

// mayDelete makes sure that it is not another life of the user that is there, whose revisions began anew because the tombstone had
// expired, or users was made anew: what is theirs would pass for what the deletion left.
func (s *Views) mayDelete(ctx context.Context, deletion Deletion) error {
	user, _, err := cosmos.Read[schema.UserItem](ctx, s.users, deletion.UserID, deletion.UserID)
	switch {
	case cosmos.IsNotFound(err):
		return nil
	case err == nil && !user.Deleted && user.Revision < deletion.Revision:
		return blog.Errorf(blog.Conflict, "Nothing is deleted of a user who is not marked as deleted.")
	}
	return err
}

// DeleteRemainder deletes one item as its user would have. One that is gone by now went with its post, or another worker was
// faster.
func (s *Views) DeleteRemainder(ctx context.Context, userID string, row Remainder) (err error) {
	ctx = cosmos.WithSession(ctx) // a post that a procedure missed is not looked for where less is known
	switch row.Type {
	case schema.TypePost:
		err = s.store.MarkPostDeleted(ctx, &schema.PostItem{ID: row.ID, PostID: row.PostID})
	case schema.TypeComment:
		_, err = s.store.DeleteComment(ctx, userID, row.PostID, row.ID)
	case schema.TypeLike:
		_, err = s.store.UnlikePost(ctx, userID, row.PostID)
	}
	switch {
	case cosmos.IsNotFound(err) && row.Type != schema.TypePost:
		return s.DeleteOrphan(ctx, row)
	case cosmos.IsRaceLost(err):
		return nil
	}
	return err
}

// DeleteOrphan deletes a comment or like outright where its post is not there at all, or has its ttl: a copy that was broken
// off leaves such, and no procedure takes them. Where the post is there, as deleted, they go with it. One that was written meanwhile
// stays: the copy goes on.
func (s *Views) DeleteOrphan(ctx context.Context, row Remainder) error {
	_, etag, err := cosmos.Read[Remainder](ctx, s.posts, row.PostID, row.ID)
	if cosmos.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	post, _, err := cosmos.Read[schema.PostItem](ctx, s.posts, row.PostID, row.PostID)
	switch {
	case cosmos.IsNotFound(err):
	case err != nil || !post.Deleted || post.TTL == 0:
		return err
	}
	if err = cosmos.Delete(ctx, s.posts, row.PostID, row.ID, etag); cosmos.IsRaceLost(err) {
		return nil
	}
	return err
}

// FinishFirstPass notes that the first pass is done. Where a later deletion took its place meanwhile, that stays.
func (s *Views) FinishFirstPass(ctx context.Context, deletion Deletion) error {
	id, etag := DeletionID(deletion.UserID), azcore.ETag(deletion.ETag)
	deletion.Last = true
	_, err := cosmos.Replace(ctx, s.leases, id, id, deletion.item(), etag)
	if cosmos.IsRaceLost(err) {
		return nil
	}
	return err
}

// FinishDeletion ends a deletion of which a last pass found nothing more: it frees the usernames, makes the user item a
// tombstone, and forgets the deletion. It can be broken off anywhere and begun again.
func (s *Views) FinishDeletion(ctx context.Context, deletion Deletion) error {
	user, etag, err := cosmos.Read[schema.UserItem](ctx, s.users, deletion.UserID, deletion.UserID)
	switch {
	case err == nil && user.Deleted && !user.Gone():
		err = s.endUser(ctx, user, etag)
	case cosmos.IsNotFound(err):
		err = nil // done before, and expired
	}
	if err != nil {
		return err
	}
	return s.ForgetDeletion(ctx, deletion)
}

// ForgetDeletion deletes a pending deletion, so that its user's change, once more, records it anew. Where a later one took
// its place meanwhile, that stays.
func (s *Views) ForgetDeletion(ctx context.Context, deletion Deletion) error {
	return s.forget(ctx, DeletionID(deletion.UserID), deletion.ETag)
}

// endUser does the tombstone last: until it is written nobody else becomes the account's user, so that all reservations
// of this one are of the user who was deleted.
func (s *Views) endUser(ctx context.Context, user *schema.UserItem, etag azcore.ETag) error {
	for _, username := range []string{user.Username, user.PendingUsername} {
		if err := s.freeUsername(ctx, user.ID, username); err != nil {
			return err
		}
	}
	sweep := SweepID(user.ID) // another life of the user begins to count at 1 once the tombstone has expired
	_, err := s.leases.DeleteItem(ctx, azcosmos.NewPartitionKeyString(sweep), sweep, nil)
	if err := cosmos.ToBlogError(err); err != nil && !cosmos.IsNotFound(err) {
		return err
	}
	_, err = cosmos.Replace(ctx, s.users, user.ID, user.ID, schema.UserItem{
		ID: user.ID, UserID: user.ID, Type: schema.TypeUser, CreationDate: user.CreationDate,
		Revision: user.Revision + 1, Deleted: true, TTL: int32(DeletedTTL.Seconds()),
	}, etag)
	return err
}

func DeletionID(userID string) string { return typeDeletion + "." + userID }

func (d Deletion) item() deletionItem {
	return deletionItem{ID: DeletionID(d.UserID), Type: typeDeletion, UserID: d.UserID, Revision: d.Revision, Last: d.Last}
}

func (i deletionItem) deletion() Deletion {
	return Deletion{UserID: i.UserID, Revision: i.Revision, Last: i.Last, ETag: i.ETag}
}

// freeUsername deletes the reservation that a deleted user may have of a username.
func (s *Views) freeUsername(ctx context.Context, userID, username string) error {
	name := blog.NormalizeUsername(username)
	if name == "" {
		return nil
	}
	reservation, etag, err := cosmos.Read[schema.ReservationItem](ctx, s.usernames, name, name)
	if err == nil && reservation.UserID == userID {
		err = cosmos.Delete(ctx, s.usernames, name, name, etag)
	}
	if cosmos.IsNotFound(err) {
		return nil
	}
	return err
}
