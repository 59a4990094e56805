package audit

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
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
	horizon  views.Horizon
	etag     azcore.ETag   // of the horizon; empty if there is none
	expected views.Horizon // equals horizon if that is correct
	broken   *auditedItem  // the horizon, if it is unreadable
	copies   []*auditedItem
	posts    []*auditedItem // the live posts above expected, newest first
}

// compareFeed compares the feed with the posts. Every live post above the horizon must have a
// copy in the feed, and no other post may have one. If there are enough posts, the feed must
// have at least as many as the API shows.
func (c comparer) compareFeed(ctx context.Context, _ string) ([]Drift, error) {
	f, err := c.readFeed(ctx)
	if err != nil {
		return nil, err
	}
	if f.broken != nil {
		d, _ := f.broken.unreadableDrift(schema.Feed, schema.FeedPartition)
		return []Drift{d}, nil
	}
	drifts, err := c.compareFeedCopies(ctx, f)
	if err != nil {
		return nil, err
	}
	if f.expected != f.horizon {
		drifts = append(drifts, f.horizonDrift())
	}
	drifts = append(drifts, c.arrivalDrifts(f)...)
	return c.dropTrimmed(ctx, drifts, f)
}

// readFeed reads the feed, and the posts that should be in it.
func (c comparer) readFeed(ctx context.Context) (f feedState, err error) {
	horizon, err := c.readItem(ctx, c.feed, schema.FeedPartition, views.HorizonID)
	if err != nil {
		return f, err
	}
	if horizon != nil {
		f.horizon, f.etag = horizon.horizon(), horizon.ETag
		if horizon.unreadable != nil {
			f.broken = horizon
			return f, nil
		}
	}
	f.horizon.ID, f.horizon.Type = views.HorizonID, schema.TypePost
	f.expected = f.horizon
	f.copies, err = c.readPartition(ctx, c.feed, schema.FeedPartition, feedCopiesQuery)
	if err != nil {
		return f, err
	}
	posts, total, err := c.readPostsAbove(ctx, f.horizon)
	if err != nil {
		return f, err
	}
	f.posts = posts
	switch {
	case total > views.FeedCapacity && len(f.missingPosts()) > 0 || total > len(posts):
		first := posts[views.FeedCapacity] // the newest surplus post
		f.expected = f.horizon.At(views.FeedPosition{CreationDate: first.CreationDate, ID: first.ID})
		f.posts = posts[:views.FeedCapacity]
	case total < blog.FeedLength && f.etag != "":
		err = c.expectOlderPosts(ctx, &f)
	}
	return f, err
}

// horizon returns the horizon as far as it can be decoded, and makes the item unreadable if that is
// not all of it.
func (i *auditedItem) horizon() (h views.Horizon) {
	horizonForm.check(i)
	text, err := json.Marshal(i.properties())
	if err == nil {
		err = json.Unmarshal(text, &h)
	}
	if err == nil && (!isDate(i.properties()["creationDate"]) || h.CreationDate == "" && h.PostID != "") {
		err = errors.New("the position has no date")
	}
	for _, name := range []string{"lastArrival", "trimmedArrival"} {
		if _, ok := i.properties()[name]; err == nil && ok && !isDate(i.properties()[name]) {
			err = fmt.Errorf("the property %s is no date", name)
		}
	}
	i.unreadable = cmp.Or(i.unreadable, err)
	return h
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
	ctx context.Context, position views.Horizon,
) (posts []*auditedItem, total int, err error) {
	for page, err := range cosmos.Pages[json.RawMessage](ctx, d.posts, azcosmos.NewPartitionKey(), postsSinceQuery, 0,
		azcosmos.QueryParameter{Name: "@from", Value: position.Position().Key()}) {
		if err != nil {
			return nil, 0, err
		}
		for _, text := range page {
			item := newAuditedItem(text)
			item.checkSource()
			if item.unreadable == nil && position.Admits(item.Post()) {
				posts = append(posts, item)
				total++
			}
		}
		slices.SortFunc(posts, compareNewestFirst)
		posts = posts[:min(2*views.FeedCapacity, len(posts))]
	}
	return posts, total, nil
}

func compareNewestFirst(a, b *auditedItem) int {
	return cmp.Or(cmp.Compare(b.CreationDate, a.CreationDate), cmp.Compare(b.ID, a.ID))
}

// horizonDrift returns the drift of a horizon at the wrong position.
func (f *feedState) horizonDrift() Drift {
	d := Drift{
		Kind:        DriftHorizon,
		Container:   schema.Feed,
		Partition:   schema.FeedPartition,
		ID:          views.HorizonID,
		sourceState: "horizon " + string(f.etag),
	}
	return d.withValues("creationDate", f.horizon.CreationDate, f.expected.CreationDate)
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
		value, ok := copy.properties()["arrivalDate"]
		switch {
		case !ok || copy.Deleted || copy.unreadable != nil:
		case !isDate(value) || copy.ArrivalDate == "" || copy.ArrivalDate > most:
			d := copy.drift(DriftCopy, schema.Feed, schema.FeedPartition)
			drifts = append(drifts, d.withValues("arrivalDate", copy.text("arrivalDate"), ""))
		default:
			last = max(last, copy.ArrivalDate)
		}
	}
	if f.etag != "" && (last != f.horizon.LastArrival || last > most) {
		d := f.horizonDrift()
		drifts = append(drifts, d.withValues("lastArrival", f.horizon.LastArrival, min(last, most)))
	}
	return drifts
}

// compareFeedCopies compares the copies in the feed with the posts that should be there.
func (c comparer) compareFeedCopies(ctx context.Context, f feedState) ([]Drift, error) {
	copies := make(map[string]*auditedItem, len(f.copies))
	for _, copy := range f.copies {
		copies[copy.ID] = copy
	}
	var drifts []Drift
	for _, post := range f.posts {
		more, err := c.compareFeedCopy(ctx, copies[post.ID], post)
		if err != nil {
			return nil, err
		}
		drifts = append(drifts, more...)
		delete(copies, post.ID)
	}
	for _, copy := range f.copies {
		if copies[copy.ID] == nil {
			continue
		}
		more, err := c.compareExtraCopy(ctx, copy, f)
		if err != nil {
			return nil, err
		}
		drifts = append(drifts, more...)
	}
	return drifts, nil
}

// compareFeedCopy compares the copy of a post that should be in the feed. A nil copy was not
// found by feedCopiesQuery.
func (c comparer) compareFeedCopy(
	ctx context.Context, copy, post *auditedItem,
) (drifts []Drift, err error) {
	if copy == nil { // the feed may have a tombstone instead
		if copy, err = c.readItem(ctx, c.feed, schema.FeedPartition, post.ID); err != nil {
			return nil, err
		}
	}
	if copy == nil {
		drifts = []Drift{missing(schema.Feed, schema.FeedPartition, post)}
	} else if d, ok := copy.unreadableDrift(schema.Feed, schema.FeedPartition); ok {
		return []Drift{d}, nil
	} else {
		drifts = copyDrifts(c.views.FeedView(), copy, post)
	}
	return c.clearStateIfChanged(ctx, drifts, c.posts, post)
}

// compareExtraCopy returns the drift of a copy whose post should not be in the feed.
func (c comparer) compareExtraCopy(
	ctx context.Context, copy *auditedItem, f feedState,
) ([]Drift, error) {
	if d, ok := copy.unreadableDrift(schema.Feed, schema.FeedPartition); ok {
		return []Drift{d}, nil
	}
	if copy.Deleted {
		if d, ok := copy.expiryDrift(schema.Feed, schema.FeedPartition); ok {
			return []Drift{d}, nil
		}
		return nil, nil
	}
	kind, err := c.missingSource(ctx, "", copy)
	if err != nil || kind != "" {
		return []Drift{copy.drift(kind, schema.Feed, schema.FeedPartition)}, err
	}
	post, err := c.readItem(ctx, c.posts, copy.ID, copy.ID)
	switch {
	case err != nil || post == nil || post.unreadable != nil:
		return nil, err
	case post.Deleted:
		d := copy.drift(DriftCopy, schema.Feed, schema.FeedPartition)
		return []Drift{d.withValues("deleted", false, true).withSource(post.ETag)}, nil
	case f.expected.Admits(post.Post()):
		return nil, nil // the post was created after the posts were read
	}
	d := copy.drift(DriftSurplus, schema.Feed, schema.FeedPartition)
	return []Drift{d.withSource(f.etag)}, nil
}

// dropTrimmed reads the horizon once more. If it moved since the feed was read, dropTrimmed
// drops missing copies of posts that are now below it. It clears the source state of drifts that
// depend on the horizon's position.
func (c comparer) dropTrimmed(ctx context.Context, drifts []Drift, f feedState) ([]Drift, error) {
	if len(drifts) == 0 {
		return nil, nil
	}
	horizon, etag, err := c.views.ReadHorizon(ctx)
	if err != nil || etag == f.etag {
		return drifts, err
	}
	posts := make(map[string]*auditedItem, len(f.posts))
	for _, post := range f.posts {
		posts[post.ID] = post
	}
	var kept []Drift
	for _, d := range drifts {
		post := posts[d.ID]
		switch {
		case d.Kind == DriftMissing && post != nil && !horizon.Admits(post.Post()):
			continue
		case d.Kind == DriftHorizon, d.Kind == DriftSurplus:
			d.sourceState = ""
		}
		kept = append(kept, d)
	}
	return kept, nil
}
