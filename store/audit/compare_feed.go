package audit

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

var (
	// feedCopiesQuery skips tombstones with a ttl: there is one for every recently deleted post.
	feedCopiesQuery = partitionQuery + ` WHERE c.id != 'horizon' AND (NOT IS_BOOL(c.deleted) OR c.deleted = false OR NOT IS_DEFINED(c.ttl))`

	postsSinceQuery = partitionQuery + ` WHERE c.type = 'post' AND c.deleted = false AND c.sortKey > @from`
)

// feedState is the actual and the expected state of the feed.
type feedState struct {
	item     *auditedItem  // the horizon
	horizon  views.Horizon // as far as it can be decoded
	expected views.Horizon // equals horizon if that is correct
	copies   []*auditedItem
	posts    []*auditedItem // the live posts above expected, newest first
}

// compareFeed compares the feed with the posts. Every live post above the horizon must have a copy
// in the feed. A copy below it must have a post, and be deleted with it. It may be of an earlier
// state: a refill that lowers the horizon writes it again. If there are enough posts, the feed must
// have at least as many as the API shows.
func (c comparer) compareFeed(ctx context.Context, _ string) ([]Drift, error) {
	f, err := c.readFeed(ctx)
	if err != nil {
		return nil, err
	}
	if f.item.unreadable != nil {
		return []Drift{f.item.unreadableDrift()}, nil
	}
	var drifts []Drift
	if f.expected != f.horizon {
		drifts = append(drifts, f.item.drift(DriftHorizon).withValues("creationDate", f.horizon.CreationDate, f.expected.CreationDate))
	}
	copies := make(map[string]*auditedItem, len(f.copies))
	for _, copy := range f.copies {
		copies[copy.ID] = copy
	}
	for _, post := range f.posts {
		copy := copies[post.ID]
		if delete(copies, post.ID); copy == nil { // the feed may have a tombstone instead
			if copy, err = c.readItem(ctx, schema.Feed, schema.FeedPartition, post.ID); err != nil {
				return nil, err
			}
		}
		drifts = append(drifts, compareCopy(c.views.FeedView(), copy, post)...)
	}
	strays := slices.DeleteFunc(slices.Clone(f.copies), func(copy *auditedItem) bool { return copies[copy.ID] == nil })
	ofStrays, err := c.compareStrays(ctx, strays, func(copy, post *auditedItem) []Drift {
		if copy.Deleted == post.Deleted {
			return nil
		}
		return compareCopy(c.views.FeedView(), copy, post)
	})
	return slices.Concat(drifts, ofStrays, c.arrivalDrifts(f)), err
}

// readFeed reads the feed, and the posts that should be in it. It reads the horizon after the
// copies: a post that is trimmed meanwhile is then below the horizon.
func (c comparer) readFeed(ctx context.Context) (f feedState, err error) {
	f.copies, err = c.readPartition(ctx, schema.Feed, schema.FeedPartition, feedCopiesQuery)
	if err != nil {
		return f, err
	}
	f.item, err = c.readItem(ctx, schema.Feed, schema.FeedPartition, views.HorizonID)
	if err != nil || f.item.unreadable != nil {
		return f, err
	}
	if f.item.exists() {
		f.item.unreadable = f.item.decode(&f.horizon)
	}
	if f.horizon.CreationDate == "" && f.horizon.PostID != "" {
		f.item.unreadable = errors.New("the position has no date")
	}
	if f.item.unreadable != nil {
		return f, nil
	}
	f.horizon.ID, f.horizon.Type = views.HorizonID, schema.TypePost
	f.expected = f.horizon
	posts, total, err := c.readPostsAbove(ctx, f.horizon)
	if err != nil {
		return f, err
	}
	f.posts = posts
	switch {
	case total > views.FeedCapacity && len(f.missingPosts()) > 0 || total > len(posts):
		first := posts[views.FeedCapacity] // the newest surplus post
		f.expected = f.horizon.At(first.position())
		f.posts = posts[:views.FeedCapacity]
	case total < blog.FeedLength && f.item.exists():
		err = c.expectOlderPosts(ctx, &f)
	}
	return f, err
}

// missingPosts returns the posts that should be in the feed and have no live copy there.
func (f *feedState) missingPosts() (posts []*auditedItem) {
	live := make(map[string]bool, len(f.copies))
	for _, copy := range f.copies {
		live[copy.ID] = !copy.Deleted
	}
	return slices.DeleteFunc(slices.Clone(f.posts), func(post *auditedItem) bool {
		return live[post.ID]
	})
}

// expectOlderPosts lowers the expected horizon of a feed that has fewer posts than the API
// shows. If there are posts at or below the horizon, the expected horizon is lowered until the
// feed is full.
func (c comparer) expectOlderPosts(ctx context.Context, f *feedState) error {
	window := views.FirstWindow(nil, f.horizon)
	limit := views.FeedCapacity - len(f.posts)
	older, err := c.views.FindOlderPosts(ctx, f.horizon, window, limit)
	if err != nil || len(older.Rows) == 0 {
		return err
	}
	f.expected = f.horizon.At(older.Rest)
	f.posts, _, err = c.readPostsAbove(ctx, f.expected)
	return err
}

// readPostsAbove returns the newest live posts above a position, newest first, and the number of
// all live posts above it. It filters across partitions, where the service does not sort. It
// therefore sorts the posts itself and keeps about twice as many as the feed may hold.
func (d *database) readPostsAbove(
	ctx context.Context, horizon views.Horizon,
) (posts []*auditedItem, total int, err error) {
	from := azcosmos.QueryParameter{Name: "@from", Value: horizon.Position().Key()}
	for page, err := range d.pages(ctx, schema.Posts, azcosmos.NewPartitionKey(), postsSinceQuery, from) {
		if err != nil {
			return nil, 0, err
		}
		for _, post := range page {
			if post.unreadable == nil && horizon.Admits(post.Post()) {
				posts = append(posts, post)
				total++
			}
		}
		slices.SortFunc(posts, func(a, b *auditedItem) int { return views.CompareNewestFirst(a.position(), b.position()) })
		posts = posts[:min(2*views.FeedCapacity, len(posts))]
	}
	return posts, total, nil
}

func (i *auditedItem) position() views.FeedPosition {
	return views.FeedPosition{CreationDate: i.CreationDate, ID: i.ID}
}

// maxArrivalAhead is how far an arrival may be ahead of the database's clock: each is later than
// the one before.
const maxArrivalAhead = time.Minute

// arrivalDrifts returns the drifts of arrival dates that cannot be right: no arrival is in the
// future, and the horizon has the last one. A copy may lack the date, as those do that a refill
// wrote, and no other copy or source has it.
func (c comparer) arrivalDrifts(f feedState) (drifts []Drift) {
	most, last := blog.NewDateTime(c.db.Now().Add(maxArrivalAhead)), f.horizon.LastArrival
	for _, copy := range f.copies {
		_, hasDate := copy.properties["arrivalDate"]
		_, err := blog.ParseDateTime(string(copy.ArrivalDate))
		switch {
		case !hasDate || copy.Deleted || copy.unreadable != nil:
		case err != nil || copy.ArrivalDate > most:
			drifts = append(drifts, copy.propertyDrifts(DriftCopy, "arrivalDate", nil, copy)...)
		default:
			last = max(last, copy.ArrivalDate)
		}
	}
	if f.item.exists() && (last != f.horizon.LastArrival || last > most) {
		drifts = append(drifts, f.item.drift(DriftHorizon).withValues("lastArrival", f.horizon.LastArrival, min(last, most)))
	}
	return drifts
}
