package audit

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

// target is the unit of comparison: one partition of posts, users, usernames or lists, or the feed.
type target struct{ container, partition string }

// comparer compares targets with their sources. It may be used concurrently.
//
// The first comparison of all targets uses caches, which may be out of date. A target that
// differs is compared again by a comparer with empty caches (newComparer).
type comparer struct {
	*database
	*caches
	// isFresh says that the caches are empty. Such a comparer also reads the pending work of the
	// projectors, and drops the drifts that this work will remove. Then it reads the sources of the
	// drifts once more.
	isFresh bool
}

// newComparer returns a comparer without caches, for one comparison.
func newComparer(d *database) comparer { return comparer{d, newCaches(), true} }

// compare returns the current drifts of a target. Some of them may be differences that a
// projector has yet to remove.
func (c comparer) compare(ctx context.Context, t target) ([]Drift, error) {
	k, err := kindOf(t.container)
	if err != nil {
		return nil, err
	}
	drifts, err := k.compare(c, ctx, t.partition)
	if err != nil || !c.isFresh {
		return drifts, err
	}
	if drifts, err = c.dropPending(ctx, drifts); err != nil {
		return nil, err
	}
	return drifts, c.clearChanged(ctx, drifts)
}

// clearChanged reads the sources of drifts once more. It clears the source state of those that
// depend on an item that changed since it was read, so that they cannot be confirmed. Pending work,
// too, may have ended before dropPending read it.
func (c comparer) clearChanged(ctx context.Context, drifts []Drift) error {
	isChanged, unread := map[source]bool{}, map[string][]source{} // by container
	for _, d := range drifts {
		for _, s := range d.dependsOn() {
			if _, ok := isChanged[s]; !ok {
				isChanged[s], unread[s.container] = false, append(unread[s.container], s)
			}
		}
	}
	for container, sources := range unread {
		for chunk := range slices.Chunk(sources, maxRead) {
			var addresses []cosmos.Address
			for _, s := range chunk {
				addresses = append(addresses, s.at)
			}
			now, err := c.readItems(ctx, container, addresses)
			if err != nil {
				return err
			}
			for _, s := range chunk {
				isChanged[s] = s != now[s.at].source() && s != now[s.at].sourceByETag()
			}
		}
	}
	for n, d := range drifts {
		if slices.ContainsFunc(d.dependsOn(), func(s source) bool { return isChanged[s] }) {
			drifts[n].sourceState = ""
		}
	}
	return nil
}

// compareCopy compares the copy of a post in a view with the one that the projection would write of
// the post, property by property. If only one of the two is deleted, that is the only drift.
func compareCopy(view views.PostView, copy, post *auditedItem) (drifts []Drift) {
	differ := func(field string, is, should any) {
		drifts = append(drifts, copy.drift(DriftCopy, post).withValues(field, is, should))
	}
	switch {
	case !copy.exists() && !post.Deleted:
		return []Drift{copy.drift(DriftMissing, post).withValues("", "", "there")}
	case !copy.exists():
		return nil
	case copy.unreadable != nil:
		return []Drift{copy.unreadableDrift()}
	}
	if copy.Unlisted {
		differ("unlisted", true, false)
	}
	if copy.Deleted != post.Deleted {
		differ("deleted", copy.Deleted, post.Deleted)
		return drifts
	}
	text, err := cosmos.EncodeItem(view.CopyOf(post.ViewSource()))
	if err != nil {
		differ("", err, nil)
		return drifts
	}
	should := newAuditedItem(view.Container, text)
	for _, name := range eitherName(copy.properties, should.properties) {
		if copy.isAsIn(should, name) {
			continue
		}
		is, want := copy.properties[name], should.properties[name]
		isHead, wantHead := propertiesIn(is), propertiesIn(want)
		if name != "head" || isHead == nil || wantHead == nil {
			differ(name, textOf(is), textOf(want))
			continue
		}
		for _, field := range eitherName(isHead, wantHead) {
			if !isSameValue(isHead[field], wantHead[field]) {
				differ(name+"."+field, textOf(isHead[field]), textOf(wantHead[field]))
			}
		}
	}
	return drifts
}

// propertiesIn returns the properties of a value, or nil if it is no object.
func propertiesIn(value json.RawMessage) (properties map[string]json.RawMessage) {
	_ = json.Unmarshal(value, &properties)
	return properties
}

// eitherName returns the names of the properties of two objects, sorted.
func eitherName(a, b map[string]json.RawMessage) []string {
	names := maps.Clone(a)
	maps.Copy(names, b)
	return slices.Sorted(maps.Keys(names))
}

// isAsIn reports whether a property of a copy is as in the copy that the projection would write, or
// one that the projection leaves alone.
func (i *auditedItem) isAsIn(should *auditedItem, name string) bool {
	switch {
	case name == "arrivalDate": // arrivalDrifts
		return true
	case name == "ttl" && i.Deleted && i.TTL <= 0: // expiryDrifts
		return true
	case name == "unlisted", i.Unlisted && (name == "formerLists" || name == "ttl"): // one drift
		return !i.has(name) || i.Unlisted
	case name == "revision" && (i.Deleted || i.container == schema.Lists): // that of the deletion, or the last edit
		return i.has(name) && i.Revision <= should.Revision
	}
	return isSameValue(i.properties[name], should.properties[name])
}

// maxRead is the maximum number of items, or some more, that a comparison reads at a time.
const maxRead = 100

// compareStrays compares copies in a view that no post was asked for. Each tombstone must have a
// ttl, and each live copy a post: in users, of that user. Then belongs returns further drifts. An
// unreadable post counts as the source, and comparePost reports an unreadable copy of a post.
func (c comparer) compareStrays(
	ctx context.Context, copies []*auditedItem, belongs func(copy, post *auditedItem) []Drift,
) (drifts []Drift, err error) {
	for chunk := range slices.Chunk(copies, maxRead) {
		var ids []string
		for _, copy := range chunk {
			if isLive := !copy.Deleted || copy.unreadable != nil; isLive && !c.known.contains(copy.partition, copy.ID) {
				ids = append(ids, copy.ID)
				if copy.PostID != "" {
					ids = append(ids, copy.PostID)
				}
			}
		}
		posts, err := c.readOwn(ctx, schema.Posts, ids)
		if err != nil {
			return nil, err
		}
		for _, copy := range chunk {
			post := posts[copy.ID]
			isSource := post != nil && (post.unreadable != nil || post.exists() && post.Type == schema.TypePost &&
				(copy.container != schema.Users || post.UserID == copy.partition))
			other := posts[copy.PostID]
			switch {
			case copy.unreadable != nil && (post != nil && !isSource || copy.container == schema.Feed):
				drifts = append(drifts, copy.unreadableDrift())
			case copy.unreadable == nil && copy.Deleted && copy.Unlisted: // it gets its ttl after its entries are tombstones
			case copy.unreadable == nil && copy.Deleted:
				drifts = append(drifts, copy.expiryDrifts()...)
				if copy.isGone() && copy.container == schema.Lists { // comparePost compares all others
					drifts = append(drifts, copy.propertyDrifts(DriftCopy, "type", schema.TypeTombstone, copy)...)
				}
			case post == nil: // known
			case isSource && post.unreadable == nil && copy.unreadable == nil:
				drifts = append(drifts, belongs(copy, post)...)
			case isSource:
			case copy.PostID != copy.ID && other != nil && other.exists():
				drifts = append(drifts, copy.drift(DriftDuplicate, post))
			default:
				drifts = append(drifts, copy.drift(DriftOrphan, post))
			}
		}
	}
	return drifts, nil
}
