package audit

import (
	"fmt"
	"strconv"

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
