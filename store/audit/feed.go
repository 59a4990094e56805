package audit

import (
	"cmp"
	"context"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/internal/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

const (
	// feedCopiesQuery leaves out the tombstones that end by themselves: there is one for every post that was deleted lately.
	feedCopiesQuery = partitionQuery + ` WHERE c.type = 'post' AND c.deleted = false` +
		` OR c.deleted = true AND NOT IS_DEFINED(c.ttl)`

	postsSinceQuery = partitionQuery + ` WHERE c.type = 'post' AND c.deleted = false AND c.creationDate >= @from`
)

// feedState is the feed beside what it should be.
type feedState struct {
	horizon views.Horizon
	etag    azcore.ETag   // of the horizon; empty where there is none
	should  views.Horizon // where the horizon should be: the same where it may be where it is
	copies  []*auditedItem
	posts   []*auditedItem // the live ones above should, newest first
}

// atFeed looks at the feed: every live post above the horizon has its copy there, and nothing else has one; and those
// are as many as the API shows, where there are as many posts.
func (l look) atFeed(ctx context.Context) ([]Drift, error) {
	f, err := l.feedState(ctx)
	if err != nil {
		return nil, err
	}
	drifts, err := l.atFeedCopies(ctx, f)
	if err != nil {
		return nil, err
	}
	if f.should != f.horizon {
		drifts = append(drifts, f.horizonDrift())
	}
	return l.unlessTrimmed(ctx, drifts, f)
}

func (l look) feedState(ctx context.Context) (f feedState, err error) {
	if f.horizon, f.etag, err = l.views.ReadHorizon(ctx); err != nil {
		return f, err
	}
	f.horizon.ID, f.horizon.Type = views.HorizonID, schema.TypePost
	f.should = f.horizon
	if f.copies, err = l.partition(ctx, l.feed, schema.FeedPartition, feedCopiesQuery); err != nil {
		return f, err
	}
	posts, total, err := l.postsAbove(ctx, f.horizon)
	if err != nil {
		return f, err
	}
	f.posts = posts
	switch {
	case total > views.FeedCapacity && len(f.absent()) > 0 || total > len(posts):
		f.should = views.HorizonAt(views.Position{ID: posts[views.FeedCapacity].ID, CreationDate: posts[views.FeedCapacity].CreationDate})
		f.posts = posts[:views.FeedCapacity]
	case total < blog.FeedLength && f.etag != "":
		err = l.beginEarlier(ctx, &f)
	}
	return f, err
}

// absent gives the posts that should be in the feed and have no live copy there.
func (f *feedState) absent() (posts []*auditedItem) {
	there := make(map[string]bool, len(f.copies))
	for _, copy := range f.copies {
		there[copy.ID] = !copy.Deleted
	}
	return slices.DeleteFunc(slices.Clone(f.posts), func(post *auditedItem) bool { return there[post.ID] })
}

// beginEarlier looks whether there are posts at or below the horizon that the feed should have: it shows fewer than it
// could. Then the horizon should be below as many as it may hold.
func (l look) beginEarlier(ctx context.Context, f *feedState) error {
	older, err := l.views.FindOlderPosts(ctx, f.horizon, views.FirstWindow(nil, f.horizon), views.FeedCapacity-len(f.posts))
	if err != nil || len(older.Rows) == 0 {
		return err
	}
	f.should = views.HorizonAt(older.Rest)
	f.posts, _, err = l.postsAbove(ctx, f.should)
	return err
}

// postsAbove gives the newest live posts above a position, newest first, and how many there are in all. They are found by
// a filter across partitions, because the service does not sort there, and no more than about twice as many as the feed
// may hold are in memory.
func (s *database) postsAbove(ctx context.Context, position views.Horizon) (posts []*auditedItem, total int, err error) {
	pager := s.posts.NewQueryItemsPager(postsSinceQuery, azcosmos.NewPartitionKey(), &azcosmos.QueryOptions{
		QueryParameters: []azcosmos.QueryParameter{{Name: "@from", Value: string(position.CreationDate)}},
	})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, 0, cosmos.ToBlogError(err)
		}
		for _, text := range page.Items {
			if item := newAuditedItem(text); item.unreadable == nil && position.IsBelow(item.Post()) {
				posts = append(posts, item)
				total++
			}
		}
		slices.SortFunc(posts, newestItemFirst)
		posts = posts[:min(2*views.FeedCapacity, len(posts))]
	}
	return posts, total, nil
}

func newestItemFirst(a, b *auditedItem) int {
	return cmp.Or(cmp.Compare(b.CreationDate, a.CreationDate), cmp.Compare(b.ID, a.ID))
}

// horizonDrift says where the feed should begin.
func (f *feedState) horizonDrift() Drift {
	d := Drift{Kind: DriftHorizon, Container: schema.Feed, Partition: schema.FeedPartition, ID: views.HorizonID, source: "horizon " + string(f.etag)}
	return d.says("creationDate", f.horizon.CreationDate, f.should.CreationDate)
}

// atFeedCopies compares the copies with the posts that should be there.
func (l look) atFeedCopies(ctx context.Context, f feedState) ([]Drift, error) {
	copies := make(map[string]*auditedItem, len(f.copies))
	for _, copy := range f.copies {
		copies[copy.ID] = copy
	}
	var drifts []Drift
	for _, post := range f.posts {
		of, err := l.atFeedCopy(ctx, copies[post.ID], post)
		if err != nil {
			return nil, err
		}
		drifts = append(drifts, of...)
		delete(copies, post.ID)
	}
	for _, copy := range f.copies {
		if copies[copy.ID] == nil {
			continue
		}
		of, err := l.atForeignCopy(ctx, copy, f)
		if err != nil {
			return nil, err
		}
		drifts = append(drifts, of...)
	}
	return drifts, nil
}

// atFeedCopy compares the copy of a post that should be in the feed; nil where it was not found among the live ones.
func (l look) atFeedCopy(ctx context.Context, copy, post *auditedItem) (drifts []Drift, err error) {
	if copy == nil {
		copy, err = l.readAudited(ctx, l.feed, schema.FeedPartition, post.ID) // a tombstone, perhaps
	}
	if err != nil {
		return nil, err
	}
	if copy == nil {
		drifts = []Drift{missing(schema.Feed, schema.FeedPartition, post)}
	} else if d, ok := copy.unreadableDrift(schema.Feed, schema.FeedPartition); ok {
		return []Drift{d}, nil
	} else if drifts = copyDrifts(schema.Feed, schema.FeedPartition, copy, post); len(drifts) > 0 {
		for i := range drifts {
			drifts[i] = drifts[i].from(post.ETag)
		}
	}
	return l.unlessChanged(ctx, drifts, l.posts, post.ID, post.ID, post.ETag)
}

// atForeignCopy says what is wrong with a copy that is of none of the posts that should be in the feed.
func (l look) atForeignCopy(ctx context.Context, copy *auditedItem, f feedState) ([]Drift, error) {
	if d, ok := copy.unreadableDrift(schema.Feed, schema.FeedPartition); ok {
		return []Drift{d}, nil
	}
	if copy.Deleted {
		if d, ok := copy.expiry(schema.Feed, schema.FeedPartition); ok {
			return []Drift{d}, nil
		}
		return nil, nil
	}
	kind, err := l.sourceless(ctx, "", copy)
	if err != nil || kind != "" {
		return []Drift{copy.drift(kind, schema.Feed, schema.FeedPartition)}, err
	}
	post, err := l.readAudited(ctx, l.posts, copy.ID, copy.ID)
	switch {
	case err != nil || post == nil || post.unreadable != nil:
		return nil, err
	case post.Deleted:
		return []Drift{copy.drift(DriftCopy, schema.Feed, schema.FeedPartition).says("deleted", false, true).from(post.ETag)}, nil
	case f.should.IsBelow(post.Post()):
		return nil, nil // it came after the posts were read
	}
	return []Drift{copy.drift(DriftSurplus, schema.Feed, schema.FeedPartition).from(f.etag)}, nil
}

// unlessTrimmed leaves out what is below the horizon by now, and does not believe what depends on the horizon where that
// was moved.
func (l look) unlessTrimmed(ctx context.Context, drifts []Drift, f feedState) ([]Drift, error) {
	if len(drifts) == 0 {
		return nil, nil
	}
	horizon, etag, err := l.views.ReadHorizon(ctx)
	if err != nil || etag == f.etag {
		return drifts, err
	}
	created := make(map[string]*auditedItem, len(f.posts))
	for _, post := range f.posts {
		created[post.ID] = post
	}
	var kept []Drift
	for _, d := range drifts {
		post := created[d.ID]
		switch {
		case d.Kind == DriftMissing && post != nil && !horizon.IsBelow(post.Post()):
			continue
		case d.Kind == DriftHorizon, d.Kind == DriftSurplus:
			d.source = ""
		}
		kept = append(kept, d)
	}
	return kept, nil
}
