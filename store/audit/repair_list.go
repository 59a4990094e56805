package audit

import (
	"context"

	"cosmosblog/blog"
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
		case DriftSurplus, DriftUnreadable, DriftCopy:
			recount = true
			err = r.repairEntry(ctx, d)
		case DriftExpiry:
			err = d.correctTTL(ctx, r.lists)
		case DriftCount:
			recount = true
			if d.item.unreadable != nil {
				err = d.removeItem(ctx, r.lists) // the recount creates it
			}
		}
		if err != nil && !cosmos.IsItemError(err) {
			return err
		}
	}
	if !recount || partition == schema.TagsPartition || partition == schema.MonthsPartition {
		return nil
	}
	return r.views.RecountList(ctx, list)
}

// repairEntry writes the entry of a post in a list, or its tombstone if the post does not belong to
// the list.
func (r repairer) repairEntry(ctx context.Context, d Drift) error {
	list := blog.List(d.Partition)
	change, err := r.feeds.Change(ctx, schema.Posts, d.ID, d.ID)
	if err == nil && change.Post != nil {
		err = r.views.ProjectList(ctx, list, []*blog.Post{change.Post})
	}
	if !r.force || err != nil && !cosmos.IsItemError(err) { // an unreadable entry fails the projection
		return err
	}
	return r.overwrite(ctx, r.views.ListView(list), d)
}
