package transfer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"strconv"

	"cosmosblog/internal/blog"
	"cosmosblog/store/cosmos"
)

// storedItem is an item as it lies in a database, with all of its properties: also those that this version of the program
// does not know, and texts letter by letter.
type storedItem struct {
	storedHead
	properties map[string]json.RawMessage // without those of the service, and without ttl
}

// storedHead is what copying has to know of an item.
type storedHead struct {
	ID             string        `json:"id"`
	Type           string        `json:"type"`
	UserID         string        `json:"userId"`
	PostID         string        `json:"postId"`
	Username       string        `json:"username"`
	Pending        string        `json:"pendingUsername"`
	Revision       int64         `json:"revision"`
	CopiedRevision int64         `json:"copiedRevision"` // that the source had when the item was copied; 0 where it was not
	AuthorRevision int64         `json:"authorRevision"`
	CreationDate   blog.DateTime `json:"creationDate"`
	UpdatedDate    blog.DateTime `json:"updatedDate"`
	Deleted        bool          `json:"deleted"`
}

// uncopied are the properties that the other database makes itself: the service's own, ttl, and copiedRevision. What is marked as deleted
// arrives without a ttl, so that the projector there turns copies into tombstones before it sets one.
var uncopied = []string{"_rid", "_self", "_etag", "_attachments", "_ts", "_lsn", "ttl", "copiedRevision"}

// userViews are the properties of a user that the projector counts: like every view they are made anew.
var userViews = []string{"postCount"}

// uncounted has what the projector has not yet counted.
var uncounted = storedItem{properties: map[string]json.RawMessage{"postCount": json.RawMessage("0")}}

func storedItems(texts [][]byte) ([]storedItem, error) {
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
	for _, name := range uncopied {
		delete(item.properties, name)
	}
	return item, nil
}

// with gives the item with some properties as another one has them: absent where it has none.
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

// withNewerName gives the item with its author's name as the other one has it, where that is newer.
func (i storedItem) withNewerName(other storedItem) storedItem {
	if other.AuthorRevision <= i.AuthorRevision {
		return i
	}
	return i.with(other, "userUsername", "authorRevision")
}

// isUnknownTo tells whether a post or user changed since it was copied. The revisions of the two ends cannot be compared
// for that: a username that is changed in posts, at either end, raises them there. They are where no copy wrote the item.
func (i storedItem) isUnknownTo(current storedItem) bool {
	return i.Revision > cmp.Or(current.CopiedRevision, current.Revision)
}

// after gives a post or user as it is written over another one. Its revision is greater, so that views follow.
func (i storedItem) after(current storedItem) storedItem {
	i.properties = maps.Clone(i.properties)
	i.properties["revision"] = strconv.AppendInt(nil, max(i.Revision, current.Revision+1), 10)
	i.properties["copiedRevision"] = strconv.AppendInt(nil, i.Revision, 10)
	return i
}

func (i storedItem) equals(other storedItem) bool {
	return maps.EqualFunc(i.properties, other.properties, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) })
}

func (i storedItem) text() ([]byte, error) {
	text, err := cosmos.EncodeItem(i.properties)
	return text, cosmos.ToBlogError(err)
}
