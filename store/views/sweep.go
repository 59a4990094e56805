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

// Sweep is the work that a renamed user leaves behind: the new username must reach every partition of posts that holds
// something of theirs. It is kept in leases until it is done, which takes two passes: a command that read the former
// name just before the rename may write it just after the first.
type Sweep struct {
	UserID         string
	Username       string
	AuthorRevision int64  // the user's revision: what carries a smaller one is changed
	Last           bool   // the first pass is done, or not asked for
	ResourceID     string // of users, as the change told it; empty where it did not
	ETag           string // as it was read; another with every write
}

const (
	typeSweep = "sweep"
	TypeSwept = "swept" // a sweep that is done

	sweepsQuery = `SELECT * FROM c WHERE c.type = 'sweep'`

	// The service refuses DISTINCT across partitions, so that a post comes as often as it has something of the user.
	sweptPostsQuery = `SELECT c.postId FROM c WHERE c.userId = @userId AND c.authorRevision < @authorRevision` +
		` AND (c.type = 'like' OR c.deleted = false)`
)

type sweepItem struct {
	ID             string `json:"id"`
	Type           string `json:"type"`
	UserID         string `json:"userId"`
	Username       string `json:"username"`
	AuthorRevision int64  `json:"authorRevision"`
	Last           bool   `json:"last"`
	ResourceID     string `json:"resourceId,omitempty"`
	ETag           string `json:"_etag,omitempty"`
}

// Sweeps lists all pending sweeps, in no order.
func (s *Views) Sweeps(ctx context.Context) ([]Sweep, error) {
	items, err := cosmos.QueryAcross[sweepItem](ctx, s.leases, sweepsQuery)
	sweeps := make([]Sweep, len(items))
	for i, item := range items {
		sweeps[i] = item.sweep()
	}
	return sweeps, err
}

// RecordSweep writes a pending sweep. It takes the place of one for an earlier rename of the same user; where one for the
// same or a later rename is there, nothing is written. One from before users was made anew says nothing of who bears the id now.
func (s *Views) RecordSweep(ctx context.Context, sweep Sweep) error {
	id := SweepID(sweep.UserID)
	return cosmos.RetryOnConflict(func() error {
		current, etag, err := cosmos.Read[sweepItem](ctx, s.leases, id, id)
		switch {
		case cosmos.IsNotFound(err):
			_, err = cosmos.Create(ctx, s.leases, id, sweep.item())
		case err == nil && (current.AuthorRevision < sweep.AuthorRevision || current.sweep().isFromBefore(sweep)):
			_, err = cosmos.Replace(ctx, s.leases, id, id, sweep.item(), etag)
		}
		return err
	})
}

// isFromBefore tells whether the sweep is of another users than a later one: its revisions are. In an account that was restored, all
// containers are others, too, with the same users, who are not to be swept again.
func (s Sweep) isFromBefore(later Sweep) bool {
	return s.ResourceID != "" && later.ResourceID != "" && s.ResourceID != later.ResourceID &&
		(s.AuthorRevision != later.AuthorRevision || s.Username != later.Username)
}

// parameters are those of the query for what there is to do.
func (s Sweep) parameters() []azcosmos.QueryParameter {
	return []azcosmos.QueryParameter{
		{Name: "@userId", Value: s.UserID},
		{Name: "@authorRevision", Value: s.AuthorRevision},
	}
}

// FinishPass notes that a pass of the sweep is done: after the first it is pending for its last, after the last it is
// done. Its item stays then, because the user comes again in the change feed whenever a post of theirs is counted. Where
// a later rename took its place meanwhile, that stays.
func (s *Views) FinishPass(ctx context.Context, sweep Sweep) error {
	id, item := SweepID(sweep.UserID), sweep.item()
	if sweep.Last {
		item.Type = TypeSwept
	}
	item.Last = true
	_, err := cosmos.Replace(ctx, s.leases, id, id, item, azcore.ETag(sweep.ETag))
	if cosmos.IsRaceLost(err) {
		return nil
	}
	return err
}

// Sweep runs one pass: updateUsernames in every partition of posts that holds something of the user with an earlier
// name, at a pace. It gives the number of items that were changed. Where more is true it was laid down before its end, so
// that others come in turn. It can be run again at any time, also where it was broken off: what is done already is not found
// again.
//
// Error: what one partition does not let be done (IsItemError) is given when all others are done; anything else ends the
// pass.
func (s *Views) Sweep(ctx context.Context, sweep Sweep, pace *Throttler) (total int, more bool, err error) {
	for {
		updated, more, err := s.sweepOnce(ctx, sweep, pace)
		total += updated
		if err != nil || more || updated == 0 {
			return total, more, err
		}
	}
}

// sweepOnce does, page by page, what the query finds. What it changes is found no more: should the query lose its place
// among what is left, it finds that when it is asked anew.
func (s *Views) sweepOnce(ctx context.Context, sweep Sweep, pace *Throttler) (n int, more bool, err error) {
	var updated atomic.Int64
	more, err = eachAtPace(ctx, s, pace, sweptPostsQuery, sweep.parameters(), func(ctx context.Context, row schema.PostID) error {
		n, err := s.SweepPost(ctx, row.PostID, sweep)
		updated.Add(int64(n))
		return err
	})
	return int(updated.Load()), more, err
}

// ForgetSweep deletes a pending sweep, so that its user's next change, or that change once more, records it anew. Where a
// later rename took its place meanwhile, that stays.
func (s *Views) ForgetSweep(ctx context.Context, sweep Sweep) error {
	return s.forget(ctx, SweepID(sweep.UserID), sweep.ETag)
}

// RenewWork writes what is pending for a user as it is, so that whoever is about to forget it, because it was set aside, does not.
// Where nothing is, it changes nothing.
func (s *Views) RenewWork(ctx context.Context, userID string) error {
	for _, id := range []string{SweepID(userID), DeletionID(userID)} {
		var same azcosmos.PatchOperations
		same.AppendSet("/userId", userID)
		_, err := s.leases.PatchItem(ctx, azcosmos.NewPartitionKeyString(id), id, same, nil)
		if err = cosmos.ToBlogError(err); err != nil && !cosmos.IsNotFound(err) {
			return err
		}
	}
	return nil
}

// forget deletes an item of leases that is as it was read.
func (s *Views) forget(ctx context.Context, id, etag string) error {
	err := cosmos.Delete(ctx, s.leases, id, id, azcore.ETag(etag))
	if cosmos.IsRaceLost(err) {
		return nil
	}
	return err
}

// SweepPost executes updateUsernames in one partition until it has no more to do: how much one execution can do is the
// service's to say. Error: errNowhere where one after the other can do nothing.
func (s *Views) SweepPost(ctx context.Context, postID string, sweep Sweep) (total int, err error) {
	for idle := 0; idle < idleExecutions; {
		updated, more, err := s.updateUsernames(ctx, postID, updateUsernamesArgument{
			UserID: sweep.UserID, Username: sweep.Username, AuthorRevision: sweep.AuthorRevision,
		})
		total += updated
		if err != nil || !more {
			return total, err
		}
		if updated > 0 {
			idle = 0
			continue
		}
		idle++
		if err := s.db.Sleep(ctx, cosmos.DefaultRetryAfter); err != nil {
			return total, err
		}
	}
	return total, errNowhere
}

// idleExecutions is how many executions in a row may do nothing, a second apart: while throughput is short, some may.
const idleExecutions = 10

var errNowhere = blog.Errorf(blog.Internal, "Giving a user's new username to what is in one partition takes a script longer than it may.")

func SweepID(userID string) string { return typeSweep + "." + userID }

func (s Sweep) item() sweepItem {
	return sweepItem{ID: SweepID(s.UserID), Type: typeSweep, UserID: s.UserID, Username: s.Username,
		AuthorRevision: s.AuthorRevision, Last: s.Last, ResourceID: s.ResourceID}
}

func (i sweepItem) sweep() Sweep {
	return Sweep{UserID: i.UserID, Username: i.Username, AuthorRevision: i.AuthorRevision, Last: i.Last, ResourceID: i.ResourceID,
		ETag: i.ETag}
}
