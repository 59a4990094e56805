package store

import (
	"cmp"
	"context"
	"net/http"
	"unsafe"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/readcache"
	"cosmosblog/store/schema"
)

// ListedPosts lists the posts with a tag, or those of a month, newest first: one query to the
// list's partition of lists. The posts lack their counters and recent comments. A list without
// posts is empty. Error: THROTTLED.
func (s *Store) ListedPosts(ctx context.Context, list blog.List, page blog.PageRequest) (blog.Page[*blog.Post], error) {
	return readPage(ctx, s, s.lists, string(list), userPosts, page, func(i *schema.EntryItem) (*blog.Post, blog.Position) {
		return i.Post(), blog.Position{CreationDate: i.CreationDate, ID: i.ID}
	})
}

// PostCounts returns the numbers of posts in several lists: one point read for one, one read many
// for several. Empty lists can be absent from the map. Error: THROTTLED.
func (s *Store) PostCounts(ctx context.Context, lists []blog.List) (map[blog.List]*int, error) {
	addresses := make([]address, len(lists))
	for i, list := range lists {
		addresses[i] = address{Partition: string(list), ID: schema.CounterID}
	}
	items, err := readItems[schema.CounterItem](ctx, s, s.lists, schema.TypeCounter, addresses)
	if err != nil {
		return nil, err
	}
	counts := make(map[blog.List]*int, len(items))
	for _, item := range items {
		if item != nil {
			counts[item.List] = new(max(item.PostCount, 0))
		}
	}
	return counts, nil
}

// Tags returns at most n tags that posts have, most used first: one query to one partition of
// lists. The order follows schema.Weight, so of two tags that are used about equally often, either
// can come first. Error: THROTTLED.
func (s *Store) Tags(ctx context.Context, n int) ([]*blog.Tag, error) {
	return listNames(ctx, s, blog.Tags.Plural, n, "", mostUsedTags, func(name string) *blog.Tag { return &blog.Tag{Name: name} })
}

// Months returns at most n months that have posts, the latest first: one query to one partition of
// lists. If before is not empty, the months are earlier than that. Error: THROTTLED.
func (s *Store) Months(ctx context.Context, n int, before string) ([]*blog.Month, error) {
	return listNames(ctx, s, blog.Months.Plural, n, cmp.Or(before, "9999-99"), monthsBefore, func(name string) *blog.Month { return &blog.Month{Name: name} })
}

const (
	mostUsedTags = `SELECT TOP @n c.id FROM c WHERE c.type = 'tag' ORDER BY c.type, c.weight DESC, c.id`
	monthsBefore = `SELECT TOP @n c.id FROM c WHERE c.type = 'month' AND c.sortKey < @before ORDER BY c.type, c.sortKey DESC`
)

// listNames returns what a query finds in a partition of lists, made from the ids.
func listNames[T any](
	ctx context.Context, s *Store, partition string, n int, before, query string, named func(string) *T,
) ([]*T, error) {
	key := readcache.Key{Container: s.lists.ID(), Partition: partition, Read: query, First: n, ID: before}
	found, cached, err := readShared(ctx, s, s.lists, key, func(ctx context.Context) (lists []*T, bytes int, err error) {
		items, err := cosmos.Query[schema.WeightItem](ctx, s.lists, partition, query, n,
			azcosmos.QueryParameter{Name: "@n", Value: n}, azcosmos.QueryParameter{Name: "@before", Value: before})
		lists = make([]*T, len(items))
		for i, item := range items {
			lists[i] = named(item.ID)
			bytes += int(unsafe.Sizeof(lists[i])+unsafe.Sizeof(*lists[i])) + len(item.ID)
		}
		return lists, bytes, err
	})
	if cached && err == nil {
		cosmos.RecordCached(ctx, s.lists.ID(), cosmos.OperationQuery, http.StatusOK, found.charge, partition)
	}
	return found.result, cosmos.ToBlogError(err)
}
