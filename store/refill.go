package store

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/internal/blog"
)

const (
	// feedCapacity is how many copies truncateFeed leaves: what the feed shows, and as many again.
	feedCapacity = 2 * blog.FeedLength

	// refillBelow is when the feed is filled again: while it still has some more than it shows.
	refillBelow = feedCapacity * 3 / 4

	// FeedMargin is how many deletions the feed bears after RefillFeed looked at it, until it shows less than it should.
	FeedMargin = refillBelow - blog.FeedLength

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
func (s *Store) RefillFeed(ctx context.Context) error {
	return whileOutrun(func() error { return s.refillFeed(ctx) })
}

// refillFeed is RefillFeed once. Error: that somebody else wrote the horizon.
func (s *Store) refillFeed(ctx context.Context) error {
	horizon, etag, err := s.feedHorizon(ctx)
	if err != nil || etag == "" {
		return err
	}
	live, err := s.newestCopies(ctx, feedCapacity)
	if err != nil {
		return err
	}
	live = slices.DeleteFunc(live, func(row datedRow) bool { return newerFirst(row, horizon.position()) >= 0 })
	switch {
	case !horizon.Refilling && len(live) >= refillBelow:
		return nil
	case len(live) >= feedCapacity:
		return s.putHorizon(ctx, horizon.position(), etag)
	}
	older, err := s.olderPosts(ctx, horizon, firstWidth(live, horizon), feedCapacity-len(live))
	if err != nil {
		return err
	}
	if etag, err = s.markRefill(ctx, horizon, etag, older.rest); err != nil {
		return err
	}
	if err := s.bringBack(ctx, horizon, older.rest); err != nil {
		return err
	}
	return s.putHorizon(ctx, older.rest, etag)
}

// newestCopies gives the newest n copies, newest first.
func (s *Store) newestCopies(ctx context.Context, n int) ([]datedRow, error) {
	text, parameters := livePosts.text(n, nil)
	return query[datedRow](ctx, s.feed, feedPartition, text, n, parameters...)
}

// markRefill writes on the horizon, where it is still as it was read, how far the feed is filled. Who fills it as far already is not
// outrun by that.
func (s *Store) markRefill(ctx context.Context, horizon horizonItem, etag azcore.ETag, rest datedRow) (azcore.ETag, error) {
	if horizon.Refilling && newerFirst(rest, horizon.refillTo()) <= 0 {
		return etag, nil
	}
	horizon.Refilling, horizon.RefillDate, horizon.RefillPostID = true, rest.CreationDate, rest.ID
	return replace(ctx, s.feed, feedPartition, horizonID, horizon, etag)
}

// errBackfilled tells that so many older posts came meanwhile that they may not all have been found.
var errBackfilled = blog.Errorf(blog.Conflict, "Many older posts came while the feed was filled. Please try again.")

// bringBack writes the copies of all posts at or below the horizon and above a position, newest first.
func (s *Store) bringBack(ctx context.Context, horizon horizonItem, rest datedRow) error {
	rows, err := s.postsBetween(ctx, datedRow{CreationDate: rest.CreationDate}, horizon.position(), 2*feedCapacity)
	if err != nil {
		return err
	}
	rows = slices.DeleteFunc(rows, func(row datedRow) bool { return newerFirst(row, rest) >= 0 })
	if len(rows) == 2*feedCapacity {
		return errBackfilled
	}
	for _, row := range rows {
		if err := s.returnToFeed(ctx, row.ID); err != nil {
			return err
		}
	}
	return nil
}

type datedRow struct {
	ID           string        `json:"id"`
	CreationDate blog.DateTime `json:"creationDate"`
}

// olderPosts are the newest posts at or below the horizon.
type olderPosts struct {
	rows []datedRow // newest first
	rest datedRow   // a position below the rows, at or above all that is left out; zero where nothing is
}

// olderPosts looks for n posts at or below the horizon, in windows of time that become wider.
func (s *Store) olderPosts(ctx context.Context, horizon horizonItem, width time.Duration, n int) (olderPosts, error) {
	var found olderPosts
	to := horizon.position()
	for len(found.rows) <= n && to.CreationDate != "" {
		var from datedRow
		if width < widestWindow {
			from.CreationDate = blog.NewDateTime(to.CreationDate.Time().Add(-width))
		}
		rows, err := s.postsBetween(ctx, from, to, n+1)
		if err != nil {
			return found, err
		}
		found.rows = append(found.rows, rows...)
		to, width = from, 4*width
	}
	found.rest = to
	if len(found.rows) > n {
		found.rest, found.rows = found.rows[n], found.rows[:n]
	}
	return found, nil
}

// widestWindow is from where on a window has no beginning.
const widestWindow = 20 * 365 * 24 * time.Hour

// firstWidth guesses how far back as many posts may lie as the feed holds now: as far as those do.
func firstWidth(live []datedRow, horizon horizonItem) time.Duration {
	if len(live) == 0 {
		return 24 * time.Hour
	}
	return max(time.Second, live[0].CreationDate.Time().Sub(horizon.CreationDate.Time()))
}

// postsBetween gives the newest n posts above one position and at or below another, newest first. Of a window that holds
// many more, not all are kept in memory at a time. No post has the empty id: from is the date alone.
func (s *Store) postsBetween(ctx context.Context, from, to datedRow, n int) ([]datedRow, error) {
	var newest []datedRow
	pager := s.posts.NewQueryItemsPager(olderPostsQuery, azcosmos.NewPartitionKey(), &azcosmos.QueryOptions{
		QueryParameters: []azcosmos.QueryParameter{
			{Name: "@from", Value: string(from.CreationDate)},
			{Name: "@to", Value: string(to.CreationDate)},
		},
	})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, asBlogError(err)
		}
		if newest, err = decodeItems(newest, page.Items); err != nil {
			return nil, err
		}
		newest = slices.DeleteFunc(newest, func(row datedRow) bool { return newerFirst(row, to) < 0 })
		slices.SortFunc(newest, newerFirst)
		newest = newest[:min(n, len(newest))]
	}
	return newest, nil
}

func newerFirst(a, b datedRow) int {
	return cmp.Or(cmp.Compare(b.CreationDate, a.CreationDate), cmp.Compare(b.ID, a.ID))
}

// returnToFeed writes a post's copy as the post is, where there is none as new.
func (s *Store) returnToFeed(ctx context.Context, postID string) error {
	change, err := s.Change(ctx, postsContainer, postID, postID)
	switch {
	case isNotFound(err):
		return nil
	case err != nil:
		return err
	case change.Err != nil:
		return nil // its own change says so
	}
	_, err = s.feedView().project(ctx, change.Post, s.writeFeedCopy)
	return err
}
