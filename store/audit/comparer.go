package audit

import (
	"context"
	"encoding/json"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/store/cosmos"
)

// target is the unit of comparison: one partition of posts, users, usernames or lists, or the feed.
type target struct{ container, partition string }

// comparer compares targets with their sources. It may be used concurrently.
//
// The first comparison of all targets uses caches, which may be out of date. A target that
// differs is compared again by a comparer without caches (newComparer).
type comparer struct {
	*database
	cachedUsers *userCache // nil: users are always read
	// knownPosts has the id of each existing post with its author, and with each of its lists. If it
	// is nil, posts are always read.
	knownPosts *hashSet
}

// newComparer returns a comparer without caches.
func newComparer(d *database) comparer { return comparer{database: d} }

// newCachingComparer returns a comparer with empty caches.
func newCachingComparer(d *database) comparer {
	return comparer{database: d, cachedUsers: newUserCache(), knownPosts: newHashSet()}
}

// isFresh reports whether the comparer has no caches. Such a comparer also reads the pending
// work of the projectors, and drops the drifts that this work will remove.
func (c comparer) isFresh() bool { return c.cachedUsers == nil }

// compare returns the current drifts of a target. Some of them may be differences that a
// projector has yet to remove.
func (c comparer) compare(ctx context.Context, t target) ([]Drift, error) {
	k, err := kindOf(t.container)
	if err != nil {
		return nil, err
	}
	return k.compare(c, ctx, t.partition)
}

// clearStateIfChanged reads the source of drifts once more. If the source changed since its views
// were read, clearStateIfChanged clears the source state of the drifts, so they cannot be
// confirmed.
func (c comparer) clearStateIfChanged(
	ctx context.Context, drifts []Drift, container *azcosmos.ContainerClient, source *auditedItem,
) ([]Drift, error) {
	if len(drifts) == 0 {
		return nil, nil
	}
	partition := source.ID
	if container == c.lists {
		partition = string(source.List)
	}
	now, err := c.readItem(ctx, container, partition, source.ID)
	if err != nil {
		return nil, err
	}
	if now == nil || now.ETag != source.ETag {
		for i := range drifts {
			drifts[i].sourceState = ""
		}
	}
	return drifts, nil
}

// readPartition returns the items of one partition that a query selects. Items that cannot be
// decoded are returned too, with the error in unreadable.
func (d *database) readPartition(
	ctx context.Context, container *azcosmos.ContainerClient, partition, query string,
) ([]*auditedItem, error) {
	var items []*auditedItem
	for page, err := range cosmos.Pages[json.RawMessage](ctx, container, azcosmos.NewPartitionKeyString(partition), query, 0) {
		if err != nil {
			return nil, err
		}
		for _, text := range page {
			items = append(items, newAuditedItem(text))
		}
	}
	return items, nil
}

// readItem returns one item, or nil if it does not exist.
func (d *database) readItem(
	ctx context.Context, container *azcosmos.ContainerClient, partition, id string,
) (*auditedItem, error) {
	response, err := container.ReadItem(ctx, azcosmos.NewPartitionKeyString(partition), id, nil)
	if err = cosmos.ToBlogError(err); err != nil {
		if cosmos.IsNotFound(err) {
			err = nil
		}
		return nil, err
	}
	item := newAuditedItem(response.Value)
	if container == d.posts {
		item.checkSource()
	}
	return item, nil
}

// readLeaseItem returns an item of leases, or nil if it does not exist.
func (d *database) readLeaseItem(ctx context.Context, id string) (*auditedItem, error) {
	return d.readItem(ctx, d.leases, id, id)
}
