package views

import (
	"cmp"
	"context"
	"crypto/rand"
	"slices"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

const (
	// FeedCapacity is the number of live copies to which truncateFeed trims the feed: twice as many
	// as queries return.
	FeedCapacity = 2 * blog.FeedLength

	// FeedSurplus is the number of copies that one execution of truncateFeed trims. The feed may hold
	// as many beyond FeedCapacity, and some below the horizon.
	FeedSurplus = 20

	// refillBelow is the number of live copies below which RefillFeed refills the feed. It is greater
	// than the number that queries return.
	refillBelow = FeedCapacity * 3 / 4

	// FeedMargin is the number of posts that can be deleted between two calls of RefillFeed without
	// making the feed too short.
	FeedMargin = refillBelow - blog.FeedLength

	newestCopiesQuery = `SELECT TOP @n * FROM c WHERE c.deleted = false` +
		` ORDER BY c.deleted, c.sortKey DESC`

	// olderPostsQuery is a filter across partitions. The service rejects ORDER BY there, so the
	// caller sorts.
	olderPostsQuery = `SELECT c.id, c.creationDate FROM c WHERE c.type = 'post' AND c.deleted = false` +
		` AND c.sortKey > @from AND c.sortKey <= @to`
)

// RefillFeed writes the copies of older posts to the feed if deletions have left fewer than
// refillBelow. If the feed is full enough, or has all posts, it costs one or two requests. It may
// run concurrently, and be interrupted anywhere and repeated. Error: CONFLICT if the horizon was
// written again in each of several tries.
//
// It first queries how far down enough posts are, and marks the horizon with that position. Then
// it queries all posts down to there again, writes their copies, and lowers the horizon. So the
// feed never has a gap:
//   - A projector that skipped a change because the post was below the horizon had read the horizon
//     before the mark. So the post had this change when RefillFeed read it. RefillFeed advances the
//     session for each post, because a replica that lags may not have the change.
//   - A projector that reads the horizon later finds the mark, and writes the copy.
//
// If the horizon is moved meanwhile, or copies were trimmed, the refill starts again: the copies
// written so far are below the horizon until it is lowered, and do not count. If a refill
// is interrupted, the mark stays, and the next call finishes it. A call follows, because the
// checkpoint of the change feed has not advanced. The end of a refill removes the mark. Copies that
// are then still below the horizon harm nobody (Horizon).
func (v *Views) RefillFeed(ctx context.Context) error {
	return cosmos.RetryOnConflict(func() error { return v.refillFeed(ctx) })
}

// refillFeed is one try of RefillFeed. Error: CONFLICT or NOT_FOUND if the horizon was written
// meanwhile.
func (v *Views) refillFeed(ctx context.Context) error {
	ctx = cosmos.InSession(ctx)
	horizon, etag, err := v.ReadHorizon(ctx)
	if err != nil || horizon.isBelowAll() {
		return err
	}
	live, err := v.newestCopies(ctx, FeedCapacity)
	if err != nil {
		return err
	}
	live = slices.DeleteFunc(live, func(p FeedPosition) bool { return CompareNewestFirst(p, horizon.Position()) >= 0 })
	switch {
	case !horizon.Refilling && len(live) >= refillBelow:
		return nil
	case len(live) >= FeedCapacity:
		return v.MoveHorizon(ctx, horizon, horizon.Position(), etag)
	}
	older, err := v.FindOlderPosts(ctx, horizon, FirstWindow(live, horizon), FeedCapacity-len(live))
	if err != nil {
		return err
	}
	if horizon, err = v.MarkRefill(ctx, horizon, etag, older.Rest); err != nil {
		return err
	}
	if err := v.restorePosts(ctx, horizon, older.Rest); err != nil {
		return err
	}
	return v.EndRefill(ctx, horizon, older.Rest)
}

// newestCopies returns the positions of the newest n live copies, newest first.
func (v *Views) newestCopies(ctx context.Context, n int) ([]FeedPosition, error) {
	return cosmos.Query[FeedPosition](ctx, v.feed, schema.FeedPartition, newestCopiesQuery, n,
		azcosmos.QueryParameter{Name: "@n", Value: n})
}

// MarkRefill marks on the horizon that a refill down to a position has begun, and returns the
// marked horizon. If a refill down to there or further is marked already, and nothing was trimmed
// since, it writes nothing, so that it does not conflict with that refill. Error: CONFLICT or
// NOT_FOUND if the horizon was written meanwhile.
func (v *Views) MarkRefill(
	ctx context.Context, horizon Horizon, etag azcore.ETag, rest FeedPosition,
) (Horizon, error) {
	if horizon.Refilling && CompareNewestFirst(rest, horizon.refillTo()) <= 0 {
		if horizon.RefillID != "" {
			return horizon, nil
		}
		rest = horizon.refillTo()
	}
	horizon.Refilling, horizon.RefillDate, horizon.RefillPostID = true, rest.CreationDate, rest.ID
	horizon.RefillID = rand.Text()
	_, err := cosmos.Replace(ctx, v.feed, schema.FeedPartition, HorizonID, horizon, etag)
	return horizon, err
}

// EndRefill moves the horizon to a position, once the feed has all posts above it (MoveHorizon).
// marked is the horizon that MarkRefill returned. Each copy written to the feed also writes the
// horizon, so EndRefill reads it again, several times if necessary. Error: CONFLICT or NOT_FOUND if
// the horizon was moved, or copies were trimmed, since it was marked.
func (v *Views) EndRefill(ctx context.Context, marked Horizon, at FeedPosition) error {
	outrun := false
	err := cosmos.RetryOnConflict(func() error {
		horizon, etag, err := v.ReadHorizon(ctx)
		if outrun = horizon.withoutArrivals() != marked.withoutArrivals(); err != nil || outrun {
			return err
		}
		return v.MoveHorizon(ctx, horizon, at, etag)
	})
	if err == nil && outrun {
		return errRefillOutrun
	}
	return err
}

var errRefillOutrun = blog.Errorf(blog.Conflict, "The feed was trimmed during its refill. Try again.")

// errBackfilled is the error of a refill during which so many older posts were created that some
// may not have been found.
var errBackfilled = blog.Errorf(blog.Conflict, "Many older posts were created during the refill of the feed. Try again.")

// restorePosts writes the copies of all posts at or below the horizon and above a position, newest
// first.
func (v *Views) restorePosts(ctx context.Context, horizon Horizon, rest FeedPosition) error {
	rows, err := v.postsBetween(ctx, rest, horizon.Position(), 2*FeedCapacity)
	if err != nil {
		return err
	}
	if len(rows) == 2*FeedCapacity {
		return errBackfilled
	}
	for _, row := range rows {
		if err := v.RestoreToFeed(ctx, row.ID); err != nil {
			return err
		}
	}
	return nil
}

// FeedPosition is the position of a post in the feed.
type FeedPosition struct {
	CreationDate blog.DateTime `json:"creationDate"`
	ID           string        `json:"id"`
}

// Key returns the sort key of the position (schema.SortKey).
func (p FeedPosition) Key() string { return schema.SortKey(p.CreationDate, p.ID) }

func positionOf(post *blog.Post) FeedPosition { return FeedPosition{post.CreationDate, post.ID} }

// OlderPosts holds posts at or below the horizon, starting with the newest.
type OlderPosts struct {
	Rows []FeedPosition // newest first
	Rest FeedPosition   // where the next window would continue; zero if Rows has all posts
}

// FindOlderPosts returns the newest n posts at or below the horizon, or all if there are fewer. It
// queries windows of time that get wider; width is the width of the first.
func (v *Views) FindOlderPosts(
	ctx context.Context, horizon Horizon, width time.Duration, n int,
) (OlderPosts, error) {
	var found OlderPosts
	to := horizon.Position()
	for len(found.Rows) <= n && to.CreationDate != "" {
		var from FeedPosition
		if width < widestWindow {
			from.CreationDate = blog.NewDateTime(to.CreationDate.Time().Add(-width))
		}
		rows, err := v.postsBetween(ctx, from, to, n+1)
		if err != nil {
			return found, err
		}
		found.Rows = append(found.Rows, rows...)
		to, width = from, 4*width
	}
	found.Rest = to
	if len(found.Rows) > n {
		found.Rest, found.Rows = found.Rows[n], found.Rows[:n]
	}
	return found, nil
}

// widestWindow is a width. Windows of at least this width have no lower bound.
const widestWindow = 20 * 365 * 24 * time.Hour

// FirstWindow returns the width of the first window of FindOlderPosts: the time span of the
// current copies.
func FirstWindow(live []FeedPosition, horizon Horizon) time.Duration {
	if len(live) == 0 {
		return 24 * time.Hour
	}
	return max(time.Second, live[0].CreationDate.Time().Sub(horizon.CreationDate.Time()))
}

// postsBetween returns the newest n posts above a position and not above another, newest first. It
// keeps no more than a page and n posts in memory.
func (v *Views) postsBetween(ctx context.Context, from, to FeedPosition, n int) ([]FeedPosition, error) {
	var newest []FeedPosition
	for page, err := range cosmos.Pages[FeedPosition](ctx, v.posts, azcosmos.NewPartitionKey(), olderPostsQuery, 0,
		azcosmos.QueryParameter{Name: "@from", Value: from.Key()},
		azcosmos.QueryParameter{Name: "@to", Value: to.Key()},
	) {
		if err != nil {
			return nil, err
		}
		newest = append(newest, page...)
		slices.SortFunc(newest, CompareNewestFirst)
		newest = newest[:min(n, len(newest))]
	}
	return newest, nil
}

// CompareNewestFirst orders positions as the feed shows them: by date, then by id, both descending.
func CompareNewestFirst(a, b FeedPosition) int {
	return cmp.Or(cmp.Compare(b.CreationDate, a.CreationDate), cmp.Compare(b.ID, a.ID))
}

// RestoreToFeed writes the copy of a post to the feed, unless the copy is up to date. It reads the
// latest state of the post. A post that is missing or cannot be decoded is no error.
func (v *Views) RestoreToFeed(ctx context.Context, postID string) error {
	ctx = cosmos.InSession(ctx)
	if err := cosmos.AdvanceSession(ctx, v.posts, postID, postID); err != nil {
		return err
	}
	change, err := v.feeds.Change(ctx, schema.Posts, postID, postID)
	switch {
	case cosmos.IsNotFound(err):
		return nil
	case err != nil:
		return err
	case change.Err != nil:
		return nil // the reader of its change feed sets it aside
	}
	return v.FeedView().Restore(ctx, change.Post)
}
