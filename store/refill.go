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
// The posts are written newest first and the horizon is lowered after them, so that the feed never has a gap. A post is
// read again after it was written: whoever handled a change of it until then may have found neither its copy nor a
// horizon below it. For the same reason it is looked once more for older posts when the horizon is lowered: some may be
// new. If copies are trimmed meanwhile, the horizon was written, and it is begun anew: what was brought back lies below the
// horizon until that is lowered, and does not count.
func (s *Store) RefillFeed(ctx context.Context) error {
	least := refillBelow
	return whileOutrun(func() error {
		err := s.refillFeed(ctx, least)
		least = feedCapacity // what was begun is brought to its end
		return err
	})
}

// refillFeed fills the feed where fewer copies than least are above the horizon. Error: that somebody else wrote the horizon.
func (s *Store) refillFeed(ctx context.Context, least int) error {
	horizon, etag, err := s.feedHorizon(ctx)
	if err != nil || etag == "" {
		return err
	}
	text, parameters := livePosts.text(feedCapacity, nil)
	live, err := query[datedRow](ctx, s.feed, feedPartition, text, feedCapacity, parameters...)
	if err != nil {
		return err
	}
	live = slices.DeleteFunc(live, func(row datedRow) bool { return newerFirst(row, horizon.position()) >= 0 })
	if len(live) >= least {
		return nil
	}
	older, err := s.olderPosts(ctx, horizon, firstWidth(live, horizon), feedCapacity-len(live))
	if err != nil {
		return err
	}
	for _, row := range older.rows {
		if err := s.returnToFeed(ctx, row.ID); err != nil {
			return err
		}
	}
	if err := s.lowerHorizon(ctx, horizon, etag, older.rest); err != nil {
		return err
	}
	return s.returnNew(ctx, horizon, older)
}

// returnNew brings into the feed what was not found the first time of what is above the horizon now.
func (s *Store) returnNew(ctx context.Context, former horizonItem, older olderPosts) error {
	rows, err := s.postsBetween(ctx, datedRow{CreationDate: older.rest.CreationDate}, former.position(), 2*feedCapacity)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if newerFirst(row, older.rest) >= 0 || slices.Contains(older.rows, row) {
			continue
		}
		change, err := s.Change(ctx, postsContainer, row.ID, row.ID)
		if err == nil && change.Err == nil {
			_, err = s.ProjectFeedPost(ctx, change.Post)
		}
		if err != nil && !isNotFound(err) {
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

// returnToFeed writes a post's copy as the post is, and once more where the post was changed at that moment.
func (s *Store) returnToFeed(ctx context.Context, postID string) error {
	v := s.feedView()
	for range 2 {
		change, err := s.Change(ctx, postsContainer, postID, postID)
		if isNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if change.Err != nil {
			return nil // its own change says so
		}
		if _, err := v.project(ctx, change.Post, v.write); err != nil {
			return err
		}
	}
	return nil
}

// lowerHorizon moves the horizon below what was brought back, where it is still as it was read. Error: that it is not.
func (s *Store) lowerHorizon(ctx context.Context, horizon horizonItem, etag azcore.ETag, rest datedRow) error {
	if rest.CreationDate == "" {
		return remove(ctx, s.feed, feedPartition, horizonID, etag)
	}
	horizon.CreationDate, horizon.PostID = rest.CreationDate, rest.ID
	_, err := replace(ctx, s.feed, feedPartition, horizonID, horizon, etag)
	return err
}
