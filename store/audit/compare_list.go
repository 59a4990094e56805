package audit

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strconv"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// know adds a post to the known posts.
func (c comparer) know(post *auditedItem) {
	c.knownPosts.add(post.UserID, post.ID)
	if !post.Deleted {
		for _, list := range post.Post().Lists() {
			c.knownPosts.add(string(list), post.ID)
		}
	}
}

// compareEntries compares the entries of a post with the post, in all lists that it belongs to.
func (c comparer) compareEntries(ctx context.Context, post *auditedItem) (drifts []Drift, err error) {
	if post.Deleted && post.TTL > 0 { // the tags are gone; compareList finds what is left
		return nil, nil
	}
	for _, list := range post.Post().Lists() {
		entry, err := c.readItem(ctx, c.lists, string(list), post.ID)
		switch {
		case err != nil:
			return nil, err
		case entry == nil && !post.Deleted:
			drifts = append(drifts, missing(schema.Lists, string(list), post))
		case entry == nil: // nothing is left
		case entry.unreadable != nil:
			d, _ := entry.unreadableDrift(schema.Lists, string(list))
			drifts = append(drifts, d)
		default:
			drifts = append(drifts, copyDrifts(c.views.ListView(list), entry, post)...)
		}
	}
	return drifts, nil
}

// listQuery omits the properties that entries have from their posts.
const listQuery = `SELECT c.id, c.list, c.postId, c.userId, c.type, c.creationDate, c.postCount, c.weight, c.revision,` +
	` c.deleted, c.ttl, c._etag FROM c`

// compareList compares one partition of lists: it checks that each entry has a source that belongs
// to the list, and each tombstone a ttl, and compares the counter and the weight of the list.
// comparePost compares the fields of the entries. Memory holds a page of entries at a time, because
// the list of a month has very many.
func (c comparer) compareList(ctx context.Context, partition string) (drifts []Drift, err error) {
	if partition == schema.TagsPartition || partition == schema.MonthsPartition {
		return c.compareWeights(ctx, partition)
	}
	list, live := blog.List(partition), 0
	counter, err := c.readCounter(ctx, list)
	if err != nil {
		return nil, err
	}
	for entries, err := range c.pages(ctx, partition) {
		if err != nil {
			return nil, err
		}
		entries = slices.DeleteFunc(entries, func(entry *auditedItem) bool { return entry.ID == schema.CounterID })
		posts, err := c.readSources(ctx, list, entries)
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			if !entry.Deleted {
				live++
			}
			d, ok, err := c.compareEntry(ctx, list, entry, posts)
			if err != nil {
				return nil, err
			}
			if ok {
				drifts = append(drifts, d)
			}
		}
	}
	counts, err := c.compareCounter(ctx, list, counter, live)
	return append(drifts, counts...), err
}

// pages reads the items of a partition of lists, page by page.
func (d *database) pages(ctx context.Context, partition string) iter.Seq2[[]*auditedItem, error] {
	return func(yield func([]*auditedItem, error) bool) {
		for page, err := range cosmos.Pages[json.RawMessage](ctx, d.lists, azcosmos.NewPartitionKeyString(partition), listQuery, 0) {
			items := make([]*auditedItem, len(page))
			for i, text := range page {
				items[i] = newAuditedItem(text)
			}
			if !yield(items, err) || err != nil {
				return
			}
		}
	}
}

// readSources reads the posts of the live entries of a list, except those that are known to belong
// to it. Those that do not exist are absent.
func (c comparer) readSources(ctx context.Context, list blog.List, entries []*auditedItem) (map[string]*auditedItem, error) {
	var ids []string
	for _, entry := range entries {
		if !entry.Deleted && !c.knownPosts.contains(string(list), entry.ID) {
			ids = append(ids, entry.ID)
		}
	}
	read, err := cosmos.ReadEach[source](ctx, c.posts, cosmos.OwnAddresses(ids))
	posts := make(map[string]*auditedItem, len(read))
	for _, post := range read {
		posts[post.ID] = post.auditedItem
	}
	return posts, err
}

// source is a post that is read with others.
type source struct{ *auditedItem }

// UnmarshalJSON decodes the properties that it can.
func (s *source) UnmarshalJSON(text []byte) error {
	s.auditedItem = newAuditedItem(text)
	s.checkSource()
	return nil
}

// compareEntry checks that an entry has a source, and a tombstone a ttl. posts has the posts that
// are not known to belong to the list. comparePost reports the unreadable entry of an existing
// post.
func (c comparer) compareEntry(
	ctx context.Context, list blog.List, entry *auditedItem, posts map[string]*auditedItem,
) (d Drift, ok bool, err error) {
	if entry.unreadable == nil && (entry.Deleted || entry.TTL > 0) {
		if d, ok = entry.expiryDrift(schema.Lists, string(list)); !ok && !entry.isTombstone() { // a list shows it
			d = entry.drift(DriftCopy, schema.Lists, string(list)).withValues("type", entry.text("type"), schema.TypeTombstone)
			return d, true, nil
		}
		return d, ok, nil
	}
	if c.knownPosts.contains(string(list), entry.ID) {
		return d, false, nil
	}
	post := posts[entry.ID]
	switch {
	case post == nil || post.Type != schema.TypePost && post.unreadable == nil:
		kind, err := c.missingSource(ctx, "", entry)
		if d, ok = entry.unreadableDrift(schema.Lists, string(list)); ok || err != nil {
			return d, ok, err
		}
		return entry.drift(kind, schema.Lists, string(list)), kind != "", nil
	case post.unreadable != nil || !post.Deleted && slices.Contains(post.Post().Lists(), list):
		return d, false, nil
	}
	return entry.drift(DriftSurplus, schema.Lists, string(list)).withSource(post.ETag), true, nil
}

// readCounter returns the counter of a list, or nil if it does not exist.
func (c comparer) readCounter(ctx context.Context, list blog.List) (*auditedItem, error) {
	counter, err := c.readItem(ctx, c.lists, string(list), schema.CounterID)
	if counter != nil {
		counterForm.check(counter)
		counter.List = list // also of a damaged counter
	}
	return counter, err
}

// compareCounter compares a list's counter, as it was before the entries were read, with the number
// of live entries, and the list's weight with the counter. If the counter changed meanwhile, every
// number between its values can be right: in a list that always gets posts, no others can be had.
func (c comparer) compareCounter(ctx context.Context, list blog.List, counter *auditedItem, live int) ([]Drift, error) {
	if counter == nil {
		if live == 0 {
			return nil, nil
		}
		d := Drift{
			Kind:        DriftCount,
			Container:   schema.Lists,
			Partition:   string(list),
			ID:          schema.CounterID,
			sourceState: "no counter",
		}
		return []Drift{d.withValues("postCount", "", live)}, nil
	}
	if n, ok := counter.count(); !ok || n != live {
		after, err := c.readCounter(ctx, list)
		if err != nil {
			return nil, err
		}
		m, isAfter := after.count()
		if !ok || !isAfter || live < min(n, m) || live > max(n, m) {
			d := counter.drift(DriftCount, schema.Lists, string(list)).withValues("postCount", counter.countText(), live)
			return c.clearStateIfChanged(ctx, []Drift{d}, c.lists, counter)
		}
		counter, live = after, m
	}
	d := counter.drift(DriftCount, schema.Lists, string(list))
	should := schema.NewWeightItem(schema.CounterItem{List: list, PostCount: live})
	weight, err := c.readItem(ctx, c.lists, should.List, should.ID)
	if err != nil {
		return nil, err
	}
	is, etag := schema.WeightItem{Type: schema.TypeTombstone}, azcore.ETag("")
	if weight != nil {
		weightForm.check(weight)
		is, etag = schema.WeightItem{Type: weight.Type, Weight: weight.Weight, SortKey: weight.SortKey}, weight.ETag
	}
	// The weight of a later state of the counter would never be written again.
	isLater := weight != nil && weight.unreadable == nil && weight.Revision > counter.Revision
	hasWeight := is.Type == should.Type && is.Weight == should.Weight && !isLater
	switch {
	case hasWeight && (weight == nil || weight.unreadable == nil && is.SortKey == should.SortKey):
		return nil, nil
	case hasWeight && weight.unreadable == nil:
		d = d.withValues("sortKey", is.SortKey, should.SortKey).withSource(etag)
	default:
		d = d.withValues("weight", is.Weight, should.Weight).withSource(etag)
	}
	return c.clearStateIfChanged(ctx, []Drift{d}, c.lists, counter)
}

// count returns the number of a counter, and false if it has none. A nil counter has none.
func (i *auditedItem) count() (int, bool) {
	if i == nil || i.unreadable != nil || i.PostCount == nil {
		return 0, false
	}
	return *i.PostCount, true
}

func (i *auditedItem) countText() string {
	if n, ok := i.count(); ok {
		return strconv.Itoa(n)
	}
	return ""
}

// compareWeights checks that each list that a partition names has a counter, and each tombstone a
// ttl. compareList compares the weights themselves.
func (c comparer) compareWeights(ctx context.Context, partition string) (drifts []Drift, err error) {
	for weights, err := range c.pages(ctx, partition) {
		if err != nil {
			return nil, err
		}
		for _, weight := range weights {
			weight.Deleted = weight.isTombstone()
			if d, ok := weight.expiryDrift(schema.Lists, partition); ok || weight.Deleted {
				if ok {
					drifts = append(drifts, d)
				}
				continue
			}
			list := blog.Tag{Name: weight.ID}.List()
			if partition == schema.MonthsPartition {
				list = blog.Month{Name: weight.ID}.List()
			}
			counter, err := c.readCounter(ctx, list)
			if err != nil {
				return nil, err
			}
			if counter == nil {
				drifts = append(drifts, weight.drift(DriftOrphan, schema.Lists, partition))
			}
		}
	}
	return drifts, nil
}
