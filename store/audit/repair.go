package audit

import (
	"context"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

// maxRepairs is the maximum number of repairs of a target, each followed by a comparison. The first
// repair writes as a projector does. Later repairs also overwrite copies with an equal or greater
// revision, which a projector must not do. More than two are needed only if the source or a copy
// changes in between.
const maxRepairs = 4

// Drifts compares a partition of posts, users, usernames or lists, or the feed, with its source
// once, and returns the differences. For a post this includes its copy in users and its entries in
// lists, and for a user the reservation of the username. Differences that a projector has yet to
// remove, or is removing, are included. Drifts may be called concurrently. Error: that of the
// database.
func Drifts(ctx context.Context, db *cosmos.DB, container, partition string) ([]Drift, error) {
	t := target{container, partition}
	return newComparer(open(db)).compare(cosmos.WithSession(ctx), t)
}

// Repair corrects drifts that Drifts returned for the same partition, and returns those that
// are left. It may be called at any time alongside servers, projectors and other repairs, and may
// be interrupted and repeated. Error: that of the database.
func Repair(
	ctx context.Context, db *cosmos.DB, container, partition string, drifts []Drift,
) (left []Drift, err error) {
	ctx = cosmos.WithSession(ctx)
	requested := make(map[driftKey]bool, len(drifts))
	etags := make(map[driftKey]azcore.ETag, len(drifts))
	for _, d := range drifts {
		requested[d.key()], etags[d.itemKey()] = true, d.item.ETag
	}
	t, database := target{container, partition}, open(db)
	for try := 0; try < maxRepairs && len(drifts) > 0; try++ {
		err := repairer{database, etags, try > 0}.repair(ctx, t, drifts)
		if err != nil && !cosmos.IsItemError(err) {
			return drifts, err
		}
		now, err := newComparer(database).compare(ctx, t)
		if err != nil {
			return drifts, err
		}
		// Keep all drifts of the repaired items. If the post changed during the repair, other fields
		// of an overwritten copy may now drift.
		drifts = slices.DeleteFunc(now, func(d Drift) bool {
			_, ok := etags[d.itemKey()]
			return !ok
		})
		for _, d := range drifts {
			if d.Kind == DriftCopy && !d.isLater { // the projection has written the copy, and not all of it
				etags[d.itemKey()] = d.item.ETag
			}
		}
	}
	return slices.DeleteFunc(drifts, func(d Drift) bool { return !requested[d.key()] }), nil
}

// repairer corrects drifts. Each of its writes is conditional on a read just before it. The
// condition is the revision of the source if that is enough, and otherwise the etag of the item to
// replace.
type repairer struct {
	*database
	etags map[driftKey]azcore.ETag // of the drifting items, by itemKey; empty for a missing item
	force bool                     // overwrites copies that the guard by revisions protects
}

func (r repairer) repair(ctx context.Context, t target, drifts []Drift) error {
	k, err := kindOf(t.container)
	if err != nil {
		return err
	}
	return k.repair(r, ctx, t.partition, drifts)
}

// overwrite replaces a drifting copy with the copy of a post, unless the drifting copy changed
// since it was read.
func (r repairer) overwrite(ctx context.Context, v views.PostView, d Drift) error {
	return r.views.Overwrite(ctx, v, d.ID, r.etags[d.itemKey()])
}

// correctTTL sets the ttl of a tombstone, or removes that of a live item. Error: CONFLICT if
// the item changed since it was read.
func (d Drift) correctTTL(ctx context.Context, container *azcosmos.ContainerClient) error {
	var changes azcosmos.PatchOperations
	if d.item.Deleted {
		changes.AppendSet("/ttl", int(views.DeletedTTL.Seconds()))
	} else {
		changes.AppendRemove("/ttl")
	}
	_, err := cosmos.Patch(ctx, container, d.Partition, d.ID, changes, d.item.ETag)
	return err
}

// setProperty sets the property that drifts, or removes it if value is nil, and counts the change
// of a post. Error: CONFLICT if the item changed since it was read.
func (d Drift) setProperty(ctx context.Context, container *azcosmos.ContainerClient, value any) error {
	var changes azcosmos.PatchOperations
	if value == nil {
		changes.AppendRemove("/" + d.Field)
	} else {
		changes.AppendSet("/"+d.Field, value)
	}
	if d.Container == schema.Posts && d.item.Type == schema.TypePost {
		changes.AppendIncrement("/revision", 1)
	}
	_, err := cosmos.Patch(ctx, container, d.Partition, d.ID, changes, d.item.ETag)
	return err
}

// removeItem deletes the item, unless it changed since it was read.
func (d Drift) removeItem(ctx context.Context, container *azcosmos.ContainerClient) error {
	err := cosmos.Delete(ctx, container, d.Partition, d.ID, d.item.ETag)
	if cosmos.IsRaceLost(err) {
		return nil // the next comparison reads the changed item
	}
	return err
}
