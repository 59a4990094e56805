package audit

import (
	"context"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/store/schema"
)

// listQuery omits the properties that entries have from their posts.
const listQuery = `SELECT c.id, c.list, c.postId, c.userId, c.type, c.creationDate, c.postCount, c.weight, c.revision,` +
	` c.deleted, c.ttl, c._etag FROM c`

// compareList compares one partition of lists: it checks that each entry has a source that belongs
// to the list, and compares the counter and the weight of the list. comparePost compares the
// properties of the entries. Memory holds a page of entries at a time, because the list of a month
// has very many.
func (c comparer) compareList(ctx context.Context, partition string) (drifts []Drift, err error) {
	if kind, ok := blog.KindOfPartition(partition); ok {
		return c.compareWeights(ctx, kind)
	}
	list, live := blog.List(partition), 0
	counter, err := c.readCounter(ctx, list)
	if err != nil {
		return nil, err
	}
	for entries, err := range c.pages(ctx, schema.Lists, azcosmos.NewPartitionKeyString(partition), listQuery) {
		if err != nil {
			return nil, err
		}
		entries = slices.DeleteFunc(entries, func(entry *auditedItem) bool { return entry.ID == schema.CounterID })
		for _, entry := range entries {
			if !entry.Deleted {
				live++
			}
		}
		more, err := c.compareStrays(ctx, entries, func(entry, post *auditedItem) []Drift {
			if !post.Deleted && slices.Contains(post.Post().Lists(), list) {
				return nil
			}
			return []Drift{entry.drift(DriftSurplus, post)}
		})
		if err != nil {
			return nil, err
		}
		drifts = append(drifts, more...)
	}
	counts, err := c.compareCounter(ctx, counter, live)
	return append(drifts, counts...), err
}

func (c comparer) readCounter(ctx context.Context, list blog.List) (*auditedItem, error) {
	return c.readItem(ctx, schema.Lists, string(list), schema.CounterID)
}

// compareCounter compares a list's counter, as it was before the entries were read, with the number
// of live entries, and the list's weight with the counter. If the counter changed meanwhile, every
// number between its values can be right: in a list that always gets posts, no others can be had.
func (c comparer) compareCounter(ctx context.Context, counter *auditedItem, live int) ([]Drift, error) {
	list := blog.List(counter.partition)
	if counter.PostCount != live || counter.unreadable != nil {
		after, err := c.readCounter(ctx, list)
		if err != nil {
			return nil, err
		}
		n, m := counter.PostCount, after.PostCount
		if counter.unreadable != nil || after.unreadable != nil || live < min(n, m) || live > max(n, m) {
			return []Drift{counter.drift(DriftCount).withValues("postCount", counter.text("postCount"), live)}, nil
		}
		counter = after
	}
	expected := schema.NewWeightItem(schema.CounterItem{List: list, PostCount: counter.PostCount})
	weight, err := c.readItem(ctx, schema.Lists, expected.List, expected.ID)
	d := counter.drift(DriftCount, weight).withValues("weight", weight.Weight, expected.Weight)
	switch {
	case err != nil || !weight.exists() && expected.Type == schema.TypeTombstone:
		return nil, err
	case weight.unreadable != nil || weight.Type != expected.Type || weight.Weight != expected.Weight:
	case weight.Revision > counter.Revision: // it would never be written again
	case weight.SortKey != expected.SortKey:
		d = d.withValues("sortKey", weight.SortKey, expected.SortKey)
	default:
		return nil, nil
	}
	return []Drift{d}, nil
}

// compareWeights checks that each list of a kind that has a name has a counter, and each tombstone
// a ttl. compareCounter compares the weights themselves.
func (c comparer) compareWeights(ctx context.Context, kind blog.ListKind) (drifts []Drift, err error) {
	weights, err := c.readPartition(ctx, schema.Lists, kind.Plural, listQuery)
	for _, weight := range weights {
		weight.Deleted = weight.isTombstone()
		expiry := weight.expiryDrifts()
		drifts = append(drifts, expiry...)
		if weight.Deleted || len(expiry) > 0 {
			continue
		}
		counter, err := c.readCounter(ctx, kind.List(weight.ID))
		if err != nil {
			return nil, err
		}
		if !counter.exists() {
			drifts = append(drifts, weight.drift(DriftOrphan, counter))
		}
	}
	return drifts, err
}
