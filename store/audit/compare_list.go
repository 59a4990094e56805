package audit

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/internal/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
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
			drifts = append(drifts, copyDrifts(schema.Lists, string(list), entry, post)...)
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
	for page, err := range cosmos.Pages[json.RawMessage](ctx, c.lists, azcosmos.NewPartitionKeyString(partition), listQuery, 0) {
		if err != nil {
			return nil, err
		}
		for _, text := range page {
			entry := newAuditedItem(text)
			if entry.ID == schema.CounterID {
				continue
			}
			if !entry.Deleted {
				live++
			}
			d, ok, err := c.compareEntry(ctx, list, entry)
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

// compareEntry checks that an entry has a source, and a tombstone a ttl.
func (c comparer) compareEntry(ctx context.Context, list blog.List, entry *auditedItem) (d Drift, ok bool, err error) {
	if d, ok = entry.unreadableDrift(schema.Lists, string(list)); ok || entry.Deleted || entry.TTL > 0 {
		if !ok {
			d, ok = entry.expiryDrift(schema.Lists, string(list))
		}
		return d, ok, nil
	}
	if c.knownPosts.contains(string(list), entry.ID) {
		return d, false, nil
	}
	kind, err := c.missingSource(ctx, "", entry)
	if err != nil || kind != "" {
		return entry.drift(kind, schema.Lists, string(list)), err == nil, err
	}
	post, err := c.readItem(ctx, c.posts, entry.ID, entry.ID)
	if err != nil || post == nil || post.unreadable != nil || !post.Deleted && slices.Contains(post.Post().Lists(), list) {
		return d, false, err
	}
	return entry.drift(DriftSurplus, schema.Lists, string(list)).withSource(post.ETag), true, nil
}

// readCounter returns the counter of a list, or nil if it does not exist.
func (c comparer) readCounter(ctx context.Context, list blog.List) (*auditedItem, error) {
	counter, err := c.readItem(ctx, c.lists, string(list), schema.CounterID)
	if counter != nil {
		counter.List = list // also of a damaged counter
	}
	return counter, err
}

// compareCounter compares a list's counter with the number of live entries, and the list's weight
// with the counter.
func (c comparer) compareCounter(ctx context.Context, list blog.List, counter *auditedItem, live int) ([]Drift, error) {
	if counter == nil {
		if live == 0 {
			return nil, nil
		}
		d := Drift{Kind: DriftCount, Container: schema.Lists, Partition: string(list), ID: schema.CounterID, sourceState: "no counter"}
		return []Drift{d.withValues("postCount", "", live)}, nil
	}
	d := counter.drift(DriftCount, schema.Lists, string(list))
	if counter.unreadable != nil || counter.PostCount == nil || *counter.PostCount != live {
		var is any = ""
		if counter.PostCount != nil {
			is = *counter.PostCount
		}
		return c.clearStateIfChanged(ctx, []Drift{d.withValues("postCount", is, live)}, c.lists, counter)
	}
	should := schema.NewWeightItem(schema.CounterItem{List: list, PostCount: live})
	weight, err := c.readItem(ctx, c.lists, should.List, should.ID)
	if err != nil {
		return nil, err
	}
	is, etag := schema.WeightItem{Type: schema.TypeTombstone}, azcore.ETag("")
	if weight != nil {
		is, etag = schema.WeightItem{Type: weight.Type, Weight: weight.Weight}, weight.ETag
	}
	if is.Type == should.Type && is.Weight == should.Weight && (weight == nil || weight.unreadable == nil) {
		return nil, nil
	}
	d = d.withValues("weight", is.Weight, should.Weight).withSource(etag)
	return c.clearStateIfChanged(ctx, []Drift{d}, c.lists, counter)
}

// compareWeights checks that each list that a partition names has a counter. compareList compares
// the weights themselves.
func (c comparer) compareWeights(ctx context.Context, partition string) (drifts []Drift, err error) {
	weights, err := c.readPartition(ctx, c.lists, partition, listQuery)
	if err != nil {
		return nil, err
	}
	for _, weight := range weights {
		if weight.isTombstone() {
			if weight.TTL <= 0 {
				drifts = append(drifts, weight.drift(DriftExpiry, schema.Lists, partition).withValues("ttl", "", views.DeletedTTL.Seconds()))
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
	return drifts, nil
}
