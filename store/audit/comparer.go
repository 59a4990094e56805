package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
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

// auditedItem is an item of any type as an audit reads it, without the texts of posts and comments.
type auditedItem struct {
	schema.PostItem
	List            blog.List                  `json:"list"`
	Weight          int                        `json:"weight"`
	Unlisted        bool                       `json:"unlisted"`
	Username        string                     `json:"username"`
	PendingUsername string                     `json:"pendingUsername"`
	PostCount       *int                       `json:"postCount"`  // nil if the item has none
	HasContent      bool                       `json:"hasContent"` // the item has the text content; only from partitionQuery
	Beginning       string                     `json:"beginning"`  // of the content: all of one without an excerpt; only from partitionQuery
	ArrivalDate     blog.DateTime              `json:"arrivalDate"`
	ETag            azcore.ETag                `json:"_etag"`
	stored          []byte                     // the item, as far as it was read
	decoded         map[string]json.RawMessage // of stored, once properties has been called
	damaged         []string                   // derived properties that were dropped, because they are of the wrong type
	unreadable      error                      // why the item cannot be decoded, or has not its form; only id and type are certain then
}

func newAuditedItem(text []byte) *auditedItem {
	item := &auditedItem{stored: text}
	item.unreadable = json.Unmarshal(text, item) // continues behind a property of the wrong type
	item.UserID = item.Writer()
	return item
}

func (i *auditedItem) isLike() bool     { return i.Type == schema.TypeLike }
func (i *auditedItem) isComment() bool  { return i.Type == schema.TypeComment }
func (i *auditedItem) isResponse() bool { return i.isLike() || i.isComment() }

// recent returns what a post stores of a comment.
func (i *auditedItem) recent() schema.RecentComment {
	comment := schema.CommentItem{
		ID: i.ID, UserID: i.UserID, UserUsername: i.UserUsername, AuthorRevision: i.AuthorRevision,
		Content: i.Beginning, Excerpt: i.Excerpt, CreationDate: i.CreationDate, UpdatedDate: i.UpdatedDate,
	}
	return comment.Recent()
}

// beginningLength is the number of UTF-16 code units that are read of contents: two for each
// character of an excerpt, and some more.
const beginningLength = 2*blog.CommentExcerptLength + 2

// commentExcerpt returns the excerpt that a comment should have, and false if it is none, or if too
// little of its content was read: that begins with much white space.
func (i *auditedItem) commentExcerpt() (excerpt string, ok bool) {
	isWhole := len(utf16.Encode([]rune(i.Beginning))) < beginningLength
	folded := strings.Join(strings.Fields(i.Beginning), " ")
	ok = i.isComment() && (isWhole || utf8.RuneCountInString(folded) > blog.CommentExcerptLength)
	return schema.CommentExcerpt(i.Beginning), ok
}

// isTombstone reports whether the item is a deleted comment in posts, the copy of a deleted post in
// users, or the entry of a post that has left a list.
func (i *auditedItem) isTombstone() bool { return i.Type == schema.TypeTombstone }

// auditedProperties are the properties that an audit reads.
var auditedProperties = fmt.Sprintf(`c.id, c.postId, c.userId, c.type, c.userUsername, c.authorRevision, c.title, c.contentSize,`+
	` c.contentVersion, IS_STRING(c.content) AS hasContent, LEFT(c.content, %d) AS beginning, c.excerpt, c.tags,`+
	` c.commentCount, c.recentComments, c.lastCommentDate, c.likeCount, c.creationDate, c.arrivalDate, c.sortKey, c.updatedDate, c.version, c.revision, c.deleted, c.ttl,`+
	` c.edits, c.inputHash, c.unlisted, c.formerLists, c.authorId, c._etag`, beginningLength)

var partitionQuery = `SELECT ` + auditedProperties + ` FROM c`

// auditedUser is a user item. If it cannot be decoded, only id and type are certain.
type auditedUser struct {
	schema.UserItem
	unreadable error
}

// UnmarshalJSON decodes the properties that it can.
func (u *auditedUser) UnmarshalJSON(text []byte) error {
	item := newAuditedItem(text)
	userForm.check(item)
	_ = json.Unmarshal(text, &u.UserItem)
	u.unreadable = item.unreadable
	return nil
}

// hasName reports whether a user has or announces a normalized username. It returns true for an
// unreadable user, who may have it.
func (u *auditedUser) hasName(name string) bool {
	return u.unreadable != nil ||
		blog.NormalizeUsername(u.Username) == name || blog.NormalizeUsername(u.PendingUsername) == name
}

// readUsers returns users by their ids; nil for a user who does not exist.
func (c comparer) readUsers(ctx context.Context, ids []string) (map[string]*auditedUser, error) {
	users := make(map[string]*auditedUser, len(ids))
	var unknown []string
	for _, id := range ids {
		if _, ok := users[id]; ok {
			continue
		}
		user, ok := c.cachedUsers.get(id)
		if users[id] = user; !ok {
			unknown = append(unknown, id)
		}
	}
	read, err := cosmos.ReadEach[auditedUser](ctx, c.users, cosmos.IdentitiesByID(unknown))
	if err != nil {
		return nil, err
	}
	for i := range read {
		users[read[i].ID] = &read[i]
	}
	for _, id := range unknown {
		c.cachedUsers.put(id, users[id])
	}
	return users, nil
}
