package audit

import (
	"context"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/store/chores"
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
		if err := (repairer{database, etags, try > 0}).repair(ctx, t, drifts); err != nil {
			return drifts, err
		}
		counter, err := database.readItem(ctx, container, partition, partition) // of a user or post, if it has some
		if err != nil {
			return drifts, err
		}
		now, err := newComparer(database).compare(ctx, t)
		if err != nil {
			return drifts, err
		}
		// Keep all drifts of the repaired items. If the post changed during the repair, other fields of
		// an overwritten copy may now drift. Keep counters, too: they follow from the items.
		drifts = slices.DeleteFunc(now, func(d Drift) bool {
			_, ok := etags[d.itemKey()]
			return !ok && d.Kind != DriftCount
		})
		for n, d := range drifts {
			if d.Kind == DriftCount && d.Container != schema.Lists && d.item.ETag != counter.ETag {
				drifts[n].sourceState = "" // what is counted while the items change is no state of them
			}
		}
		for _, d := range drifts {
			if d.Kind == DriftCopy && !d.isLater() { // the projection has written the copy, and not all of it
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

// repair corrects the drifts of a target as far as it can: first those of its items, and then what
// the projection writes of them elsewhere. An error that concerns only some items does not stop it.
func (r repairer) repair(ctx context.Context, t target, drifts []Drift) error {
	var steps []func() error
	add := func(f func(context.Context, string) error) {
		steps = append(steps, func() error { return f(ctx, t.partition) })
	}
	repaired := map[driftKey]bool{}
	addItems := func(isOwn bool) {
		for _, d := range drifts {
			key := d.key()
			key.kind, key.field = d.repairKind(), ""
			if (d.Container == t.container) == isOwn && !repaired[key] {
				repaired[key] = true
				steps = append(steps, func() error { return r.repairItem(ctx, d, drifts) })
			}
		}
	}
	addItems(true)
	if t.container == schema.Posts {
		touchesComments := func(d Drift) bool { return slices.Contains([]DriftKind{DriftRecent, DriftExcerpt, DriftName}, d.Kind) }
		if slices.ContainsFunc(drifts, touchesComments) {
			add(r.chores.RestoreRecentComments)
		}
		add(r.chores.RepairPost)
	}
	addItems(false)
	for _, step := range steps {
		if err := step(); err != nil && !cosmos.IsItemError(err) {
			return err
		}
	}
	return nil
}

// repairProperty is the kind of all drifts that are repaired by setting a property.
const repairProperty DriftKind = "property"

// repairKind returns how a drift is repaired: like others of its kind, or by setting the property.
func (d Drift) repairKind() DriftKind {
	isProperty := slices.Contains([]string{"lastCommentDate", "lastArrival", "arrivalDate"}, d.Field)
	switch d.Kind {
	case DriftOrder, DriftExcerpt:
		isProperty = true
	case DriftCount: // that of a list changes with its weight
		isProperty = d.Container != schema.Lists
	case DriftExpiry: // the chore of a deletion sets the ttl in posts, and that of a user
		isProperty = !d.item.Deleted || d.Container != schema.Posts && d.ID != d.Partition
	}
	if isProperty {
		return repairProperty
	}
	return d.Kind
}

// repairItem corrects a drift, and with it all others of the item that are repaired in that way.
func (r repairer) repairItem(ctx context.Context, d Drift, all []Drift) error {
	rest := chores.Remainder{ID: d.ID, PostID: d.Partition, Type: d.item.Type, AuthorRevision: d.item.AuthorRevision}
	isInPosts := d.Container == schema.Posts
	switch kind := d.repairKind(); {
	case kind == repairProperty:
		return r.setProperties(ctx, d.item, all)
	case kind == DriftOrphan && isInPosts:
		return r.chores.DeleteOrphan(ctx, rest)
	case kind == DriftOrphan, kind == DriftDuplicate, kind == DriftContent && d.ID == schema.ContentID: // a missing text cannot be known
		return r.remove(ctx, d)
	case kind == DriftName:
		return r.repairName(ctx, d)
	case kind == DriftLeft:
		err := r.chores.DeleteRemainder(ctx, d.item.UserID, rest)
		if err == nil && d.item.isComment() {
			err = r.chores.ExpireComment(ctx, d.Partition, d.ID, d.item.UserID)
		}
		return err
	case kind == DriftExpiry && !isInPosts: // it was never recorded
		return r.chores.RecordDeletion(ctx, chores.Deletion{UserID: d.ID, Revision: d.item.Revision})
	case kind == DriftExpiry && d.ID != d.Partition:
		return r.chores.ExpireComment(ctx, d.Partition, d.ID, d.item.UserID)
	case kind == DriftCount, kind == DriftReservation:
		if d.item.unreadable != nil { // whose reservation it was cannot be known
			if err := r.remove(ctx, d); err != nil {
				return err
			}
		}
		if kind == DriftCount {
			return r.views.RecountList(ctx, blog.List(d.Partition))
		}
		return r.store.RestoreReservation(ctx, d.value.(string))
	case kind == DriftReclaimable:
		return r.store.ReclaimUsername(ctx, d.ID)
	case kind == DriftHorizon:
		return r.correctHorizon(ctx)
	case kind == DriftUnreadable && d.ID == views.HorizonID:
		return r.restoreHorizon(ctx, d)
	case kind == DriftMissing, kind == DriftCopy, kind == DriftUnreadable, kind == DriftSurplus:
		return r.repairCopy(ctx, d)
	}
	return nil
}

// setProperties sets the properties of an item that drift to their values, and counts the change of
// a post. It leaves the drifts of an item that changed during the comparison. Error: CONFLICT if
// the item changed since it was read. What its properties follow from may have changed with it:
// every comment, like and copy that comes or goes changes the item that counts it.
func (r repairer) setProperties(ctx context.Context, item *auditedItem, all []Drift) error {
	var changes azcosmos.PatchOperations
	n := 0
	for _, d := range all {
		if d.item != item || d.repairKind() != repairProperty || d.sourceState == "" {
			continue
		}
		if n++; d.value == nil {
			changes.AppendRemove("/" + d.Field)
		} else {
			changes.AppendSet("/"+d.Field, d.value)
		}
	}
	if n == 0 {
		return nil
	}
	if item.container == schema.Posts && item.Type == schema.TypePost {
		changes.AppendIncrement("/revision", 1)
	}
	_, err := cosmos.Patch(ctx, r.db.Container(item.container), item.partition, item.ID, changes, item.ETag)
	return err
}

// repairCopy projects a post into the view of a drifting copy. If that was not enough, it replaces
// the copy, unless the copy changed since it was read. An unreadable copy fails the projection.
func (r repairer) repairCopy(ctx context.Context, d Drift) (err error) {
	var view views.PostView
	switch list := blog.List(d.Partition); d.Container {
	case schema.Users: // RepairPost has projected the post
		view = r.views.UserPostView(d.Partition)
	case schema.Feed:
		view, err = r.views.FeedView(), r.views.RestoreToFeed(ctx, d.ID)
	case schema.Lists:
		view = r.views.ListView(list)
		change, readErr := r.feeds.Change(ctx, schema.Posts, d.ID, d.ID)
		if err = readErr; err == nil && change.Post != nil {
			err = r.views.ProjectList(ctx, list, []*blog.Post{change.Post})
		}
	default:
		return nil
	}
	if !r.force || err != nil && !cosmos.IsItemError(err) {
		return err
	}
	return r.views.Overwrite(ctx, view, d.ID, r.etags[d.itemKey()])
}

// remove deletes the item, unless it changed since it was read.
func (r repairer) remove(ctx context.Context, d Drift) error {
	err := cosmos.Delete(ctx, r.db.Container(d.Container), d.Partition, d.ID, d.item.ETag)
	if cosmos.IsRaceLost(err) {
		return nil // the next comparison reads the changed item
	}
	return err
}

// repairName writes the user's current username to their items in one partition, as a sweep does. A
// sweep skips items whose authorRevision is not below the user's current revision; repairName
// overwrites such an item. Error: CONFLICT if that item changed since it was read.
func (r repairer) repairName(ctx context.Context, d Drift) error {
	user, _, err := cosmos.ReadLatest[schema.UserItem](cosmos.WithSession(ctx), r.db.Container(schema.Users), d.item.UserID)
	if err != nil {
		return err
	}
	if d.item.isBefore(user.Revision) {
		sweep := chores.Sweep{UserID: user.ID, Username: user.Username, AuthorRevision: user.Revision}
		_, err := r.chores.SweepPost(ctx, d.Partition, sweep)
		return err
	}
	var changes azcosmos.PatchOperations
	changes.AppendSet("/userUsername", user.Username)
	changes.AppendSet("/authorRevision", user.Revision)
	if d.item.Type == schema.TypePost {
		changes.AppendIncrement("/revision", 1)
	}
	_, err = cosmos.Patch(ctx, r.db.Container(schema.Posts), d.Partition, d.ID, changes, d.item.ETag)
	return err
}
