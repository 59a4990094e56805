package audit

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

// DriftKind is the way in which an item drifts.
type DriftKind string

// The kinds of drift.
const (
	DriftMissing     DriftKind = "missing"     // a copy does not exist
	DriftCopy        DriftKind = "copy"        // a property of a copy differs from its post
	DriftOrphan      DriftKind = "orphan"      // the post of a copy, comment or like does not exist
	DriftDuplicate   DriftKind = "duplicate"   // a copy has another id than its post
	DriftSurplus     DriftKind = "surplus"     // a copy in the feed is below the horizon, or a post is not in a list that has it
	DriftHorizon     DriftKind = "horizon"     // the feed's horizon is at the wrong position
	DriftCount       DriftKind = "count"       // a counter has the wrong value
	DriftRecent      DriftKind = "recent"      // the recent comments of a post are not its newest ones
	DriftExcerpt     DriftKind = "excerpt"     // the excerpt of a comment is not that of its content
	DriftOrder       DriftKind = "order"       // a post, comment or like is at the wrong place of its lists
	DriftName        DriftKind = "name"        // a post, comment or like has the wrong username
	DriftReservation DriftKind = "reservation" // a user's username is not reserved for the user
	DriftReclaimable DriftKind = "reclaimable" // a reservation that its user does not need
	DriftExpiry      DriftKind = "expiry"      // a deleted item has no ttl, or a live item has one
	DriftUnpurged    DriftKind = "unpurged"    // a deleted post with a ttl still has a comment or like
	DriftLeft        DriftKind = "left"        // a live item of a user whose deletion is done
	DriftAuthor      DriftKind = "author"      // the author of an item does not exist and is unknown
	DriftContent     DriftKind = "content"     // a post has a wrong content item, or lacks it
	DriftUnreadable  DriftKind = "unreadable"  // an item cannot be decoded, or lacks a property
)

// Drift is one difference between a view and its source.
type Drift struct {
	Kind       DriftKind
	Container  string
	Partition  string
	ID         string // of the item that drifts
	Field      string // empty if the item as a whole drifts
	Is, Should string // actual and expected value; empty if there is none

	item auditedItem // the item as it was read; zero if it does not exist

	// sourceState identifies the state of the source that was compared. A drift is confirmed if two
	// comparisons find it in the same state. It is empty if the source changed during the comparison.
	sourceState string
	// isLater reports that a copy has a later revision than its post, if Kind is DriftCopy: a replica
	// may have shown an earlier state of the post.
	isLater bool
	// userRevision is the revision of the author that was compared, if Kind is DriftName.
	userRevision int64
}

type driftKey struct {
	kind                            DriftKind
	container, partition, id, field string
}

func (d Drift) key() driftKey { return driftKey{d.Kind, d.Container, d.Partition, d.ID, d.Field} }

// itemKey returns the key that all drifts of one item share.
func (d Drift) itemKey() driftKey {
	return driftKey{container: d.Container, partition: d.Partition, id: d.ID}
}

// drift returns a drift of an existing item.
func (i *auditedItem) drift(kind DriftKind, container, partition string) Drift {
	return Drift{
		Kind:        kind,
		Container:   container,
		Partition:   partition,
		ID:          i.ID,
		item:        *i,
		sourceState: string(i.ETag),
	}
}

// withValues returns the drift with a field, and its actual and expected value.
func (d Drift) withValues(field string, is, should any) Drift {
	d.Field, d.Is, d.Should = field, fmt.Sprint(is), fmt.Sprint(should)
	return d
}

// withSource returns the drift with the states of further sources: etags or revisions.
func (d Drift) withSource(states ...any) Drift {
	d.sourceState += " " + fmt.Sprint(states...)
	return d
}

// missing returns the drift of a copy that does not exist.
func missing(container, partition string, post *auditedItem) Drift {
	return Drift{
		Kind:        DriftMissing,
		Container:   container,
		Partition:   partition,
		ID:          post.ID,
		Should:      "there",
		sourceState: string(post.ETag),
	}
}

// unreadableDrift returns the drift of an item that cannot be decoded, and false if it can.
func (i *auditedItem) unreadableDrift(container, partition string) (Drift, bool) {
	if i.unreadable == nil {
		return Drift{}, false
	}
	return i.drift(DriftUnreadable, container, partition).withValues("", i.unreadable, ""), true
}

// expiryDrift returns the drift of a missing or superfluous ttl, and false if there is none.
func (i *auditedItem) expiryDrift(container, partition string) (Drift, bool) {
	d := i.drift(DriftExpiry, container, partition)
	switch {
	case i.Deleted && i.TTL <= 0:
		return d.withValues("ttl", "", strconv.Itoa(int(views.DeletedTTL.Seconds()))), true
	case !i.Deleted && i.TTL > 0:
		return d.withValues("ttl", i.TTL, ""), true
	}
	return d, false
}

// copyDrifts compares a copy with the one that the projection would write of its post, property by
// property. If only one of the two is deleted, that is the only drift.
func copyDrifts(view views.PostView, copy, post *auditedItem) []Drift {
	var drifts []Drift
	differ := func(field string, is, should any) {
		d := copy.drift(DriftCopy, view.Container, view.Partition).withValues(field, is, should)
		d.isLater = copy.Revision > post.Revision
		drifts = append(drifts, d.withSource(post.ETag))
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
		differ("", err, "")
		return drifts
	}
	should := newAuditedItem(text)
	names := maps.Clone(should.properties())
	maps.Copy(names, copy.properties())
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if !copy.isAsIn(should, name, view.Container) {
			differ(name, copy.text(name), should.text(name))
		}
	}
	return drifts
}

// isAsIn reports whether a property of a copy is as in the copy that the projection would write, or
// one that the projection leaves alone.
func (i *auditedItem) isAsIn(should *auditedItem, name, container string) bool {
	switch {
	case strings.HasPrefix(name, "_"): // the service's own
		return true
	case name == "arrivalDate": // arrivalDrifts
		return true
	case name == "ttl" && i.Deleted && i.TTL <= 0: // expiryDrift
		return true
	case name == "tags" && len(i.Tags) == 0 && len(should.Tags) == 0: // absent, or empty after an edit
		return string(i.properties()[name]) != "null"
	case name == "unlisted", i.Unlisted && (name == "formerLists" || name == "ttl"): // one drift
		return !i.has(name) || i.Unlisted
	case name == "revision" && (i.Deleted || container == schema.Lists): // that of the deletion, or the last edit
		return i.has(name) && i.Revision <= should.Revision
	}
	var a, b any
	is, wanted := i.properties()[name], should.properties()[name]
	if is == nil || wanted == nil || json.Unmarshal(is, &a) != nil || json.Unmarshal(wanted, &b) != nil {
		return is == nil && wanted == nil
	}
	return reflect.DeepEqual(a, b)
}

// recentText returns recent comments as JSON, which can be compared.
func recentText(recent []schema.RecentComment) string {
	if len(recent) == 0 {
		return "[]"
	}
	text, err := json.Marshal(recent)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
