package audit

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

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
	DriftSurplus     DriftKind = "surplus"     // a post is not in a list that has it
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

	item     *auditedItem // that drifts, as it was read
	sources  []source     // with which it was compared
	revision int64        // of the first source
	value    any          // that Field should have; nil if it should be absent

	// sourceState identifies the states of item and sources. A drift is confirmed if two comparisons
	// find it in the same states. It is empty if one of them changed during the comparison.
	sourceState string
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

// source is a state of an item on which a drift depends.
type source struct {
	container string
	at        cosmos.Address
	state     string
}

// source returns the item as a source. The etag of a user also changes with each post.
func (i *auditedItem) source() source {
	if i.container == schema.Users {
		return source{i.container, i.address(), fmt.Sprint(i.exists(), i.Revision)}
	}
	return i.sourceByETag()
}

func (i *auditedItem) sourceByETag() source { return source{i.container, i.address(), string(i.ETag)} }

// drift returns a drift of an item.
func (i *auditedItem) drift(kind DriftKind, sources ...*auditedItem) Drift {
	d := Drift{Kind: kind, Container: i.container, Partition: i.partition, ID: i.ID, item: i}
	d.sourceState = fmt.Sprint(i.sourceByETag())
	for n, of := range sources {
		if n == 0 {
			d.revision = of.Revision
		}
		d.sources = append(d.sources, of.source())
		d.sourceState += fmt.Sprint(of.source())
	}
	return d
}

// dependsOn returns the states on which the drift depends. A copy may change with its post only.
func (d Drift) dependsOn() []source {
	if d.Kind == DriftCopy {
		return d.sources
	}
	return append(slices.Clip(d.sources), d.item.sourceByETag())
}

// withValues returns the drift with a field, and its actual and expected value.
func (d Drift) withValues(field string, is, should any) Drift {
	d.Field, d.Is, d.Should, d.value = field, fmt.Sprint(is), "", should
	if should != nil {
		d.Should = fmt.Sprint(should)
	}
	return d
}

// isLater reports whether a copy has a later revision than its post: a replica may have shown an
// earlier state of the post.
func (d Drift) isLater() bool { return d.item.Revision > d.revision }

// unreadableDrift returns the drift of an item that is unreadable.
func (i *auditedItem) unreadableDrift() Drift {
	return i.drift(DriftUnreadable).withValues("", i.unreadable, nil)
}

// propertyDrifts returns the drift of a property that has not the value that it should have, nil if
// it should be absent.
func (i *auditedItem) propertyDrifts(kind DriftKind, name string, should any, sources ...*auditedItem) []Drift {
	var text json.RawMessage
	if should != nil {
		text, _ = json.Marshal(should)
	}
	if isSameValue(i.properties[name], text) {
		return nil
	}
	d := i.drift(kind, sources...).withValues(name, i.text(name), should)
	if kind := reflect.ValueOf(should).Kind(); kind == reflect.Slice {
		d.Should = string(text)
	}
	return []Drift{d}
}

// isSameValue reports whether two JSON values are the same, or both absent.
func isSameValue(a, b json.RawMessage) bool {
	var is, should any
	if a == nil || b == nil || json.Unmarshal(a, &is) != nil || json.Unmarshal(b, &should) != nil {
		return a == nil && b == nil
	}
	return reflect.DeepEqual(is, should)
}

// expiryDrifts returns the drift of a missing or superfluous ttl.
func (i *auditedItem) expiryDrifts() []Drift {
	switch {
	case i.Deleted && i.TTL <= 0:
		return []Drift{i.drift(DriftExpiry).withValues("ttl", "", int(views.DeletedTTL.Seconds()))}
	case !i.Deleted && i.TTL > 0:
		return []Drift{i.drift(DriftExpiry).withValues("ttl", i.TTL, nil)}
	}
	return nil
}
