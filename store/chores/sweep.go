package chores

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// Sweep is the pending work for a renamed user: the new username has to reach every partition of
// posts with items of the user. It is stored in the container leases. It takes two passes, because
// a command that read the former name before the rename may write it after the first pass. The last
// pass also frees the usernames that the user no longer needs.
type Sweep struct {
	ID             string `json:"id"`
	Type           string `json:"type"`
	UserID         string `json:"userId"`
	Username       string `json:"username"`
	AuthorRevision int64  `json:"authorRevision"`       // the user's revision; items with a smaller one are changed
	Last           bool   `json:"last"`                 // the first pass is done, or not needed
	ResourceID     string `json:"resourceId,omitempty"` // of the container users when the user changed; empty if unknown
	History        string `json:"history,omitempty"`    // the name of the history in which the user changed; or empty
	ETag           string `json:"_etag,omitempty"`      // as read; every write changes it

	// Charge is what the user's last sweep was charged in RU, or only its first pass if the last one
	// is not done. It is 0 if unknown. FirstCharge is what the first pass of this sweep was charged.
	Charge      float64 `json:"charge,omitempty"`
	FirstCharge float64 `json:"firstCharge,omitempty"`
}

const (
	sweepsQuery = `SELECT * FROM c WHERE c.type = 'sweep'`

	// The service rejects DISTINCT across partitions, so a post is returned once for each item of
	// the user.
	sweptPostsQuery = `SELECT c.postId FROM c WHERE c.userId = @userId AND c.authorRevision < @authorRevision` +
		` AND (c.type = 'like' OR c.deleted = false)`
)

// Sweeps returns all pending sweeps, in no order.
func (c *Chores) Sweeps(ctx context.Context) ([]Sweep, error) {
	return cosmos.QueryAcross[Sweep](ctx, c.leases, sweepsQuery)
}

// RecordSweep writes a pending sweep. It replaces a sweep, pending or done, for an earlier rename
// of the same user, but keeps its charge. If there is a sweep for the same or a later rename,
// RecordSweep writes nothing. It always replaces a sweep from before the container users was
// recreated, because the id may now belong to another user, and one of an earlier history, whose
// rename may be lost.
func (c *Chores) RecordSweep(ctx context.Context, sweep Sweep) error {
	id := schema.SweepID(sweep.UserID)
	return cosmos.RetryOnConflict(func() error {
		current, etag, err := cosmos.Read[Sweep](ctx, c.leases, id, id)
		switch {
		case cosmos.IsNotFound(err):
			_, err = cosmos.Create(ctx, c.leases, id, sweep.item())
		case err == nil && (current.AuthorRevision < sweep.AuthorRevision || current.isObsolete(sweep)):
			sweep.Charge = current.Charge
			_, err = cosmos.Replace(ctx, c.leases, id, id, sweep.item(), etag)
		}
		return err
	})
}

// isObsolete reports whether the sweep is of an earlier history, or from before the container users
// was recreated. Its revision cannot be compared with that of a later sweep. In a restored
// database, most users are as before. So a sweep for the same rename is not obsolete, and not all
// users are swept again.
func (s Sweep) isObsolete(later Sweep) bool {
	isOther := s.ResourceID != "" && later.ResourceID != "" && s.ResourceID != later.ResourceID
	return (isOther || s.History < later.History) && (s.AuthorRevision != later.AuthorRevision || s.Username != later.Username)
}

// FinishSweepPass records the end of a pass, and its charge in RU. After the first pass, the last
// one is pending; after that, the sweep is done. The item of the sweep stays. It lets RecordSweep
// ignore later changes of the user that only update the post count. If a sweep for a later rename
// has replaced this one, FinishSweepPass changes nothing.
func (c *Chores) FinishSweepPass(ctx context.Context, sweep Sweep, charge float64) error {
	id, item := schema.SweepID(sweep.UserID), sweep.item()
	if sweep.Last {
		item.Type = schema.TypeSwept
		item.Charge, item.FirstCharge = max(sweep.Charge, sweep.FirstCharge+charge), 0
	} else {
		item.Charge, item.FirstCharge = charge, charge
	}
	item.Last = true
	_, err := cosmos.Replace(ctx, c.leases, id, id, item, azcore.ETag(sweep.ETag))
	return unlessRaceLost(err)
}

// RenewWork changes the etags of a user's pending sweep and deletion. A projector that is about to
// delete one of them, after it has written its dead letter, then fails on the etag. If none is
// pending, RenewWork does nothing.
func (c *Chores) RenewWork(ctx context.Context, userID string) error {
	for _, id := range []string{schema.SweepID(userID), schema.DeletionID(userID)} {
		var same azcosmos.PatchOperations
		same.AppendSet("/userId", userID)
		_, err := c.leases.PatchItem(ctx, azcosmos.NewPartitionKeyString(id), id, same, nil)
		if err = cosmos.ToBlogError(err); err != nil && !cosmos.IsNotFound(err) {
			return err
		}
	}
	return nil
}

// SweepPass returns a pass of a sweep. Each of its steps executes updateUsernames in a partition of
// posts with items of the user under an earlier name. Changed items are not found again.
//
// A last pass also frees each username that is reserved for the user, who neither has nor announces
// it: a rename was interrupted. By then, all requests of that rename have ended.
func (c *Chores) SweepPass(sweep Sweep) Pass {
	return func(ctx context.Context, p *Progress) error {
		if sweep.Username != "" { // otherwise the user has no items yet
			if err := c.sweepItems(ctx, p, sweep); err != nil {
				return err
			}
		}
		if sweep.Last {
			return c.reclaimUsernames(ctx, p, sweep)
		}
		return nil
	}
}

// sweepItems changes the items of a user. It repeats the query until it changes nothing, because a
// query of several pages may skip items while others change.
func (c *Chores) sweepItems(ctx context.Context, p *Progress, sweep Sweep) error {
	for before := -1; p.changed != before; {
		before = p.changed
		err := each(ctx, p, c.sweptPosts(sweep), func(post schema.PostID) step { return c.sweepStep(post.PostID, sweep) })
		if err != nil {
			return err
		}
	}
	return nil
}

// sweptPosts queries the posts with items that a sweep has to change.
func (c *Chores) sweptPosts(sweep Sweep) *rowQuery[schema.PostID] {
	return &rowQuery[schema.PostID]{container: c.posts, text: sweptPostsQuery, parameters: []azcosmos.QueryParameter{
		{Name: "@userId", Value: sweep.UserID}, {Name: "@authorRevision", Value: sweep.AuthorRevision},
	}}
}

func (c *Chores) sweepStep(postID string, sweep Sweep) step {
	size := newTransactionSize(maxSweptItems)
	argument := &updateUsernamesArgument{
		PostID: postID, UserID: sweep.UserID, Username: sweep.Username, AuthorRevision: sweep.AuthorRevision,
	}
	return func(ctx context.Context) (updated int, more bool, err error) {
		argument.Limit = size.items()
		err = size.charged(ctx, func(ctx context.Context) (int, error) {
			updated, more, err = c.updateUsernames(ctx, argument)
			return updated, err
		})
		return updated, more, err
	}
}

// maxSweptItems is the largest number of items that an execution of updateUsernames changes. It
// loads as many, of up to 40 KB each, before it stops at the length of their texts.
const maxSweptItems = 30

// SweepPost executes a sweep in one partition of posts, and returns the number of items that
// changed. It executes updateUsernames until there is no more to do: the service limits how much
// one execution can change. Error: ErrNoProgress if several executions in a row change nothing.
func (c *Chores) SweepPost(ctx context.Context, postID string, sweep Sweep) (changed int, err error) {
	return c.sweepStep(postID, sweep).run(ctx, atOnce{})
}

func (s Sweep) item() Sweep {
	s.ID, s.Type, s.ETag = schema.SweepID(s.UserID), schema.TypeSweep, ""
	return s
}
