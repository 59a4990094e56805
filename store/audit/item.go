package audit

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"cosmosblog/blog"
	"cosmosblog/store/schema"
)

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

// isTombstone reports whether the item is a deleted comment in posts, the copy of a deleted post in
// users, or the entry of a post that has left a list.
func (i *auditedItem) isTombstone() bool { return i.Type == schema.TypeTombstone }

// recent returns what a post stores of a comment.
func (i *auditedItem) recent() schema.RecentComment {
	comment := schema.CommentItem{
		ID:             i.ID,
		UserID:         i.UserID,
		UserUsername:   i.UserUsername,
		AuthorRevision: i.AuthorRevision,
		Content:        i.Beginning,
		Excerpt:        i.Excerpt,
		CreationDate:   i.CreationDate,
		UpdatedDate:    i.UpdatedDate,
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

// auditedProperties are the properties that an audit reads.
var auditedProperties = fmt.Sprintf(`c.id, c.postId, c.userId, c.type, c.userUsername, c.authorRevision, c.title, c.contentSize,`+
	` c.contentVersion, IS_STRING(c.content) AS hasContent, LEFT(c.content, %d) AS beginning, c.excerpt, c.tags,`+
	` c.commentCount, c.recentComments, c.lastCommentDate, c.likeCount, c.creationDate, c.arrivalDate, c.sortKey,`+
	` c.updatedDate, c.version, c.revision, c.deleted, c.ttl,`+
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
