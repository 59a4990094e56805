package views

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/internal/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

const (
	// FeedCapacity is how many copies truncateFeed leaves: what the feed shows, and as many again.
	FeedCapacity = 2 * blog.FeedLength

	// refillBelow is when the feed is filled again: while it still has some more than it shows.
	refillBelow = FeedCapacity * 3 / 4

	// FeedMargin is how many deletions the feed bears after RefillFeed looked at it, until it shows less than it should.
	FeedMargin = refillBelow - blog.FeedLength

	newestCopiesQuery = `SELECT TOP @n * FROM c WHERE c.type = 'post' AND c.deleted = false` +
		` ORDER BY c.type, c.creationDate DESC, c.id DESC`

	// olderPostsQuery is a filter across partitions: sorting is left to us, because the service refuses it there.
	olderPostsQuery = `SELECT c.id, c.creationDate FROM c WHERE c.type = 'post' AND c.deleted = false` +
		` AND c.creationDate >= @from AND c.creationDate <= @to`
)

// RefillFeed brings older posts back into the feed where deletions took so many that it may soon show less than it
// should. Where it is full enough, or holds all posts there are, that costs a point read or two requests.
//
// How far it is filled is written on the horizon first; then all posts down to there are looked for and written, and the horizon is
// lowered after them, so that the feed never has a gap. Whoever handled a change of one of them and let it go, because it lay
// below the horizon, read that before the mark, and so the post was there when it was looked for; whoever comes later finds the
// mark, and writes the copy. If the horizon is written meanwhile, because copies are trimmed, it is begun anew: what was brought
// back lies below the horizon until that is lowered, and does not count. A mark that was left by somebody who died has the next one
// bring to its end what they began: as their checkpoint did not pass, somebody comes. With the mark goes what still lies below
// the horizon, and truncateFeed lets nobody who is late put it back.
func (v *Views) RefillFeed(ctx context.Context) error {
	return cosmos.RetryOnConflict(func() error { return v.refillFeed(ctx) })
}

// refillFeed is RefillFeed once. Error: that somebody else wrote the horizon.
func (v *Views) refillFeed(ctx context.Context) error {
	horizon, etag, err := v.ReadHorizon(ctx)
	if err != nil || etag == "" {
		return err
	}
	live, err := v.newestCopies(ctx, FeedCapacity)
	if err != nil {
		return err
	}
	live = slices.DeleteFunc(live, func(row Position) bool { return CompareNewestFirst(row, horizon.Position()) >= 0 })
	switch {
	case !horizon.Refilling && len(live) >= refillBelow:
		return nil
	case len(live) >= FeedCapacity:
		return v.MoveHorizon(ctx, horizon.Position(), etag)
	}
	older, err := v.FindOlderPosts(ctx, horizon, FirstWindow(live, horizon), FeedCapacity-len(live))
	if err != nil {
		return err
	}
	if etag, err = v.MarkRefill(ctx, horizon, etag, older.Rest); err != nil {
		return err
	}
	if err := v.bringBack(ctx, horizon, older.Rest); err != nil {
		return err
	}
	return v.MoveHorizon(ctx, older.Rest, etag)
}

// newestCopies gives the newest n copies, newest first.
func (v *Views) newestCopies(ctx context.Context, n int) ([]Position, error) {
	return cosmos.Query[Position](ctx, v.feed, schema.FeedPartition, newestCopiesQuery, n,
		azcosmos.QueryParameter{Name: "@n", Value: n})
}

// MarkRefill writes on the horizon, where it is still as it was read, how far the feed is filled. Who fills it as far already is not
// outrun by that.
func (v *Views) MarkRefill(ctx context.Context, horizon Horizon, etag azcore.ETag, rest Position) (azcore.ETag, error) {
	if horizon.Refilling && CompareNewestFirst(rest, horizon.refillTo()) <= 0 {
		return etag, nil
	}
	horizon.Refilling, horizon.RefillDate, horizon.RefillPostID = true, rest.CreationDate, rest.ID
	return cosmos.Replace(ctx, v.feed, schema.FeedPartition, HorizonID, horizon, etag)
}

// errBackfilled tells that so many older posts came meanwhile that they may not all have been found.
var errBackfilled = blog.Errorf(blog.Conflict, "Many older posts came while the feed was filled. Please try again.")

// bringBack writes the copies of all posts at or below the horizon and above a position, newest first.
func (v *Views) bringBack(ctx context.Context, horizon Horizon, rest Position) error {
	rows, err := v.postsBetween(ctx, Position{CreationDate: rest.CreationDate}, horizon.Position(), 2*FeedCapacity)
	if err != nil {
		return err
	}
	rows = slices.DeleteFunc(rows, func(row Position) bool { return CompareNewestFirst(row, rest) >= 0 })
	if len(rows) == 2*FeedCapacity {
		return errBackfilled
	}
	for _, row := range rows {
		if err := v.ReturnToFeed(ctx, row.ID); err != nil {
			return err
		}
	}
	return nil
}

type Position struct {
	ID           string        `json:"id"`
	CreationDate blog.DateTime `json:"creationDate"`
}

// OlderPosts are the newest posts at or below the horizon.
type OlderPosts struct {
	Rows []Position // newest first
	Rest Position   // a position below the rows, at or above all that is left out; zero where nothing is
}

// FindOlderPosts looks for n posts at or below the horizon, in windows of time that become wider.
func (v *Views) FindOlderPosts(ctx context.Context, horizon Horizon, width time.Duration, n int) (OlderPosts, error) {
	var found OlderPosts
	to := horizon.Position()
	for len(found.Rows) <= n && to.CreationDate != "" {
		var from Position
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

// widestWindow is from where on a window has no beginning.
const widestWindow = 20 * 365 * 24 * time.Hour

// FirstWindow guesses how far back as many posts may lie as the feed holds now: as far as those do.
func FirstWindow(live []Position, horizon Horizon) time.Duration {
	if len(live) == 0 {
		return 24 * time.Hour
	}
	return max(time.Second, live[0].CreationDate.Time().Sub(horizon.CreationDate.Time()))
}

// postsBetween gives the newest n posts above one position and at or below another, newest first. Of a window that holds
// many more, not all are kept in memory at a time. No post has the empty id: from is the date alone.
func (v *Views) postsBetween(ctx context.Context, from, to Position, n int) ([]Position, error) {
	var newest []Position
	pager := v.posts.NewQueryItemsPager(olderPostsQuery, azcosmos.NewPartitionKey(), &azcosmos.QueryOptions{
		QueryParameters: []azcosmos.QueryParameter{
			{Name: "@from", Value: string(from.CreationDate)},
			{Name: "@to", Value: string(to.CreationDate)},
		},
	})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, cosmos.ToBlogError(err)
		}
		if newest, err = cosmos.DecodeItems(newest, page.Items); err != nil {
			return nil, err
		}
		newest = slices.DeleteFunc(newest, func(row Position) bool { return CompareNewestFirst(row, to) < 0 })
		slices.SortFunc(newest, CompareNewestFirst)
		newest = newest[:min(n, len(newest))]
	}
	return newest, nil
}

func CompareNewestFirst(a, b Position) int {
	return cmp.Or(cmp.Compare(b.CreationDate, a.CreationDate), cmp.Compare(b.ID, a.ID))
}

// ReturnToFeed writes a post's copy as the post is, where there is none as new.
func (v *Views) ReturnToFeed(ctx context.Context, postID string) error {
	change, err := v.feeds.Change(ctx, schema.Posts, postID, postID)
	switch {
	case cosmos.IsNotFound(err):
		return nil
	case err != nil:
		return err
	case change.Err != nil:
		return nil // its own change says so
	}
	return v.FeedView().Restore(ctx, change.Post)
}
