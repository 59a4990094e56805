package transfer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// storedItem is an item as it is stored, with all of its properties. It keeps properties that
// this version of the program does not use, and strings byte for byte.
type storedItem struct {
	storedHead
	properties map[string]json.RawMessage // without notCopied
}

// storedHead holds the properties that the copy itself uses.
type storedHead struct {
	ID             string        `json:"id"`
	Type           string        `json:"type"`
	UserID         string        `json:"userId"`
	AuthorID       string        `json:"authorId"` // instead of UserID in a deleted item with a ttl
	PostID         string        `json:"postId"`
	Username       string        `json:"username"`
	UserUsername   string        `json:"userUsername"`
	Pending        string        `json:"pendingUsername"`
	Revision       int64         `json:"revision"`
	CopiedRevision int64         `json:"copiedRevision"` // copied revision of the source; 0 if none
	AuthorRevision int64         `json:"authorRevision"`
	CreationDate   blog.DateTime `json:"creationDate"`
	UpdatedDate    blog.DateTime `json:"updatedDate"`
	Deleted        bool          `json:"deleted"`
}

// notCopied are the properties that the target sets itself: the service's own, ttl, and
// copiedRevision. A deleted item is copied without its ttl. The target's projector sets a ttl
// after it has turned the item's copies into tombstones.
var notCopied = []string{"_rid", "_self", "_etag", "_attachments", "_ts", "_lsn", "ttl", "copiedRevision"}

// userCounters are the properties of a user that the projector counts. Like the views, they are
// not copied.
var userCounters = []string{"postCount"}

// zeroCounters has the counters of a user who is new in the target.
var zeroCounters = storedItem{properties: map[string]json.RawMessage{"postCount": json.RawMessage("0")}}

func storedItems[T ~[]byte](texts []T) ([]storedItem, error) {
	items := make([]storedItem, len(texts))
	for i, text := range texts {
		var err error
		if items[i], err = newStoredItem(text); err != nil {
			return nil, err
		}
	}
	return items, nil
}

func newStoredItem(text []byte) (storedItem, error) {
	var item storedItem
	if err := cosmos.Decode(text, &item.properties); err != nil {
		return item, err
	}
	if err := cosmos.Decode(text, &item.storedHead); err != nil {
		return item, err
	}
	for _, name := range notCopied {
		delete(item.properties, name)
	}
	item.undoExpiry()
	return item, nil
}

// undoExpiry changes the properties back that the projector changed when it set the ttl of a
// deleted item, except for its text. A deleted comment is read without its text in any case.
func (i *storedItem) undoExpiry() {
	if author, ok := i.properties["authorId"]; ok {
		delete(i.properties, "authorId")
		i.properties["userId"] = author
		i.UserID = i.AuthorID
	}
	if i.Type == schema.TypeTombstone {
		i.properties["content"] = json.RawMessage(`""`)
		delete(i.properties, "excerpt")
	}
}

// with returns the item with the named properties of another item. A property that the other
// item lacks is removed.
func (i storedItem) with(other storedItem, names ...string) storedItem {
	i.properties = maps.Clone(i.properties)
	for _, name := range names {
		if value, ok := other.properties[name]; ok {
			i.properties[name] = value
		} else {
			delete(i.properties, name)
		}
	}
	return i
}

// withNewerName returns the item with the author's username of the other item, if that is
// newer.
func (i storedItem) withNewerName(other storedItem) storedItem {
	if other.AuthorRevision <= i.AuthorRevision {
		return i
	}
	i.UserUsername, i.AuthorRevision = other.UserUsername, other.AuthorRevision
	return i.with(other, "userUsername", "authorRevision")
}

// changedSinceCopyTo reports whether a post or user of the source changed since it was copied to
// the target's current item. It compares the source's revision with copiedRevision, because each
// database's own revisions also count its sweeps of usernames. If no copy wrote the target's
// item, it compares the revisions.
func (i storedItem) changedSinceCopyTo(current storedItem) bool {
	return i.Revision > cmp.Or(current.CopiedRevision, current.Revision)
}

// asSuccessorOf returns a post or user with the revisions to overwrite another item. Its
// revision is greater than the other's, so the projector updates the views.
func (i storedItem) asSuccessorOf(current storedItem) storedItem {
	i.properties = maps.Clone(i.properties)
	i.properties["revision"] = strconv.AppendInt(nil, max(i.Revision, current.Revision+1), 10)
	i.properties["copiedRevision"] = strconv.AppendInt(nil, i.Revision, 10)
	return i
}

// withNewerRecentNames returns a post whose recent comments have the usernames of the comments that
// the target will have. Those can be newer than the source's.
func (i storedItem) withNewerRecentNames(comments map[string]storedItem) (storedItem, error) {
	recent, err := i.recentComments()
	if err != nil {
		return i, err
	}
	changed := false
	for n, c := range recent {
		if newer := comments[c.ID]; newer.AuthorRevision > c.AuthorRevision {
			recent[n].UserUsername, recent[n].AuthorRevision = newer.UserUsername, newer.AuthorRevision
			changed = true
		}
	}
	if !changed {
		return i, nil
	}
	text, err := cosmos.EncodeItem(recent)
	if err != nil {
		return i, cosmos.ToBlogError(err)
	}
	i.properties = maps.Clone(i.properties)
	i.properties["recentComments"] = text
	return i, nil
}

// recentCommentsWith returns the recent comments of a post with the present state of a comment, and
// whether it is one of them.
func (i storedItem) recentCommentsWith(comment storedItem) (recent []schema.RecentComment, isRecent bool, err error) {
	recent, err = i.recentComments()
	n := slices.IndexFunc(recent, func(c schema.RecentComment) bool { return c.ID == comment.ID })
	if err != nil || n < 0 {
		return nil, false, err
	}
	text, err := comment.text()
	if err != nil {
		return nil, false, err
	}
	var item schema.CommentItem
	if err := cosmos.Decode(text, &item); err != nil {
		return nil, false, err
	}
	recent[n] = item.Recent()
	return recent, true, nil
}

func (i storedItem) recentComments() (recent []schema.RecentComment, err error) {
	if text, ok := i.properties["recentComments"]; ok {
		err = cosmos.Decode(text, &recent)
	}
	return recent, err
}

func (i storedItem) equals(other storedItem) bool {
	return maps.EqualFunc(i.properties, other.properties, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) })
}

// isStateOf reports whether a post or user and another one differ in nothing but the revision.
func (i storedItem) isStateOf(other storedItem) bool {
	return i.with(other, "revision").equals(other)
}

func (i storedItem) text() ([]byte, error) {
	text, err := cosmos.EncodeItem(i.properties)
	return text, cosmos.ToBlogError(err)
}
