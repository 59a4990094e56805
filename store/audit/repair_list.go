package audit

import (
	"context"
	"encoding/json"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/internal/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// repairList corrects drifts of one partition of lists.
func (r repairer) repairList(ctx context.Context, partition string, drifts []Drift) error {
	recount, list := false, blog.List(partition)
	for _, d := range drifts {
		var err error
		switch d.Kind {
		case DriftOrphan, DriftDuplicate:
			recount = true
			err = d.removeItem(ctx, r.lists)
		case DriftSurplus, DriftUnreadable:
			recount = true
			err = r.repairEntry(ctx, d)
		case DriftExpiry:
			err = d.correctTTL(ctx, r.lists)
		case DriftCount:
			recount = true
		}
		if err != nil && !cosmos.IsItemError(err) {
			return err
		}
	}
	if !recount || partition == schema.TagsPartition || partition == schema.MonthsPartition {
		return nil
	}
	if err := cosmos.RetryOnConflict(func() error { return r.recountList(ctx, list) }); err != nil {
		return err
	}
	return r.views.OverwriteWeight(ctx, list)
}

// repairEntry writes the entry of a post in a list, or its tombstone if the post does not belong to
// the list.
func (r repairer) repairEntry(ctx context.Context, d Drift) error {
	view := r.views.ListView(blog.List(d.Partition))
	change, err := r.feeds.Change(ctx, schema.Posts, d.ID, d.ID)
	if err == nil && change.Post != nil {
		_, err = view.Project(ctx, change.Post)
	}
	if !r.force || err != nil && !cosmos.IsItemError(err) { // an unreadable entry fails the projection
		return err
	}
	return r.overwrite(ctx, view, d)
}

// recountList sets a list's counter to the number of live entries. Every entry that comes or goes
// also changes the counter's etag, so a concurrent change makes the write fail. Error: CONFLICT in
// that case.
func (r repairer) recountList(ctx context.Context, list blog.List) error {
	counter, err := r.readItem(ctx, r.lists, string(list), schema.CounterID)
	if err != nil {
		return err
	}
	live := 0
	for page, err := range cosmos.Pages[json.RawMessage](ctx, r.lists, azcosmos.NewPartitionKeyString(string(list)), listQuery, 0) {
		if err != nil {
			return err
		}
		for _, text := range page {
			if item := newAuditedItem(text); item.ID != schema.CounterID && !item.Deleted {
				live++
			}
		}
	}
	item := schema.NewCounterItem(list)
	item.PostCount = live
	var etag azcore.ETag
	switch {
	case counter == nil:
		_, err = cosmos.Create(ctx, r.lists, string(list), item)
		return err
	case counter.unreadable == nil && counter.PostCount != nil && *counter.PostCount == live:
		return nil
	default:
		etag, item.Revision = counter.ETag, counter.Revision+1
	}
	_, err = cosmos.Replace(ctx, r.lists, string(list), schema.CounterID, item, etag)
	return err
}
