package audit

import (
	"fmt"
	"strconv"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

// DriftKind is in what way something drifts.
type DriftKind string

// The kinds of drift.
const (
	DriftMissing     DriftKind = "missing"     // a copy that should be there
	DriftCopy        DriftKind = "copy"        // a copy says something else than its post
	DriftOrphan      DriftKind = "orphan"      // a copy, comment or like whose post is not there
	DriftDuplicate   DriftKind = "duplicate"   // a copy under another id than its post's
	DriftSurplus     DriftKind = "surplus"     // a copy in the feed that is older than what the feed holds
	DriftHorizon     DriftKind = "horizon"     // the feed should begin elsewhere
	DriftCount       DriftKind = "count"       // a counter is not the number of what it counts
	DriftName        DriftKind = "name"        // a username on a post, comment or like is not its user's
	DriftReservation DriftKind = "reservation" // a user's username is not reserved for them
	DriftReclaimable DriftKind = "reclaimable" // a reservation of a name that its user neither bears nor wants
	DriftExpiry      DriftKind = "expiry"      // a deleted item without the ttl that ends it, or a live one with one
	DriftUnpurged    DriftKind = "unpurged"    // a comment or like of a deleted post that was to be gone before the post has its ttl
	DriftLeft        DriftKind = "left"        // something live of a user of whom nothing should be left
	DriftAuthor      DriftKind = "author"      // something of a user who is not there; nobody can tell who that was
	DriftUnreadable  DriftKind = "unreadable"  // an item that is not of the form that it should have
)

// Drift is one thing in which a view is not as its source has it.
type Drift struct {
	Kind       DriftKind
	Container  string
	Partition  string
	ID         string // of the item that is not as it should be
	Field      string // empty where the item as a whole is meant
	Is, Should string // empty where there is nothing

	item   auditedItem // where the item is there
	source string      // the state of the source when it was seen; empty where that changed meanwhile
}

// place is what tells one drift from another.
type place struct {
	kind                            DriftKind
	container, partition, id, field string
}

func (d Drift) place() place { return place{d.Kind, d.Container, d.Partition, d.ID, d.Field} }

// itemPlace is the same for all drifts of one item.
func (d Drift) itemPlace() place {
	return place{container: d.Container, partition: d.Partition, id: d.ID}
}

// auditedItem is an item as an audit reads it, of whatever type, but for the texts of posts and comments.
type auditedItem struct {
	schema.PostItem
	Username        string      `json:"username"`
	PendingUsername string      `json:"pendingUsername"`
	PostCount       *int        `json:"postCount"` // nil if the item has none
	ETag            azcore.ETag `json:"_etag"`
	unreadable      error       // then only id and type are sure to be there
}

// auditedProperties are those that an audit reads.
const auditedProperties = `c.id, c.postId, c.userId, c.type, c.userUsername, c.authorRevision, c.title, c.excerpt,` +
	` c.commentCount, c.likeCount, c.creationDate, c.updatedDate, c.version, c.revision, c.deleted, c.ttl, c._etag`

const partitionQuery = `SELECT ` + auditedProperties + ` FROM c`

func (i *auditedItem) isLike() bool     { return i.Type == schema.TypeLike }
func (i *auditedItem) isComment() bool  { return i.Type == schema.TypeComment }
func (i *auditedItem) isResponse() bool { return i.isLike() || i.isComment() }

// drift gives a drift of an item that is there.
func (i *auditedItem) drift(kind DriftKind, container, partition string) Drift {
	return Drift{Kind: kind, Container: container, Partition: partition, ID: i.ID, item: *i, source: string(i.ETag)}
}

// says completes a drift with what a field is and should be.
func (d Drift) says(field string, is, should any) Drift {
	d.Field, d.Is, d.Should = field, fmt.Sprint(is), fmt.Sprint(should)
	return d
}

// from completes a drift with the state of what it was compared with.
func (d Drift) from(sources ...any) Drift {
	d.source += " " + fmt.Sprint(sources...)
	return d
}

// expiry gives the drift of a ttl that should or should not be there.
func (i *auditedItem) expiry(container, partition string) (Drift, bool) {
	d := i.drift(DriftExpiry, container, partition)
	switch {
	case i.Deleted && i.TTL <= 0:
		return d.says("ttl", "", strconv.Itoa(int(views.DeletedTTL.Seconds()))), true
	case !i.Deleted && i.TTL > 0:
		return d.says("ttl", i.TTL, ""), true
	}
	return d, false
}

// copyDrifts compares a short copy with its post, field by field. A copy that should be a tombstone, or should be none,
// drifts in that alone.
func copyDrifts(container, partition string, copy, post *auditedItem) []Drift {
	var drifts []Drift
	differ := func(field string, is, should any) {
		if is != should {
			drifts = append(drifts, copy.drift(DriftCopy, container, partition).says(field, is, should))
		}
	}
	differ("deleted", copy.Deleted, post.Deleted)
	if copy.Deleted || post.Deleted {
		return drifts
	}
	differ("postId", copy.PostID, post.ID)
	differ("userId", copy.UserID, post.UserID)
	differ("userUsername", copy.UserUsername, post.UserUsername)
	differ("authorRevision", copy.AuthorRevision, post.AuthorRevision)
	differ("title", copy.Title, post.Title)
	differ("excerpt", copy.Excerpt, post.Excerpt)
	differ("commentCount", copy.CommentCount, post.CommentCount)
	differ("likeCount", copy.LikeCount, post.LikeCount)
	differ("creationDate", copy.CreationDate, post.CreationDate)
	differ("updatedDate", copy.UpdatedDate, post.UpdatedDate)
	differ("version", copy.Version, post.Version)
	differ("revision", copy.Revision, post.Revision)
	differ("ttl", copy.TTL, int32(0))
	return drifts
}
