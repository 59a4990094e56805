package transfer

import (
	"bytes"
	"encoding/json"
	"maps"
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
	Revision       int64         `json:"revision"`
	UpdatedDate    blog.DateTime `json:"updatedDate"`
	Deleted        bool          `json:"deleted"`
	AuthorRevision int64         `json:"authorRevision"`
}

// notCopied are the properties that the target sets itself: the service's own, and ttl. A deleted
// item is copied without its ttl. The target's projector sets a ttl after it has turned the item's
// copies into tombstones.
var notCopied = []string{"_rid", "_self", "_etag", "_attachments", "_ts", "_lsn", "ttl"}

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

// withNewerName returns a comment or like with the username of the target's, if that is newer: the
// target's projector may have renamed its author before the source's, and does so only once.
func (i storedItem) withNewerName(other storedItem) storedItem {
	if other.AuthorRevision <= i.AuthorRevision {
		return i
	}
	return i.with(other, "userUsername", "authorRevision")
}

// asSuccessorOf returns a post or user with the revision to overwrite another item: a greater one,
// so the projector updates the views. Each database's own revisions also count its sweeps of
// usernames.
func (i storedItem) asSuccessorOf(current storedItem) storedItem {
	if i.Revision > current.Revision {
		return i
	}
	i.properties = maps.Clone(i.properties)
	i.properties["revision"] = strconv.AppendInt(nil, current.Revision+1, 10)
	return i
}

func (i storedItem) equals(other storedItem) bool {
	return maps.EqualFunc(i.properties, other.properties, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) })
}

// isStateOf reports whether a post or user is the state of another one: they differ in nothing but
// the revision, and the other one's is not less.
func (i storedItem) isStateOf(other storedItem) bool {
	return i.Revision <= other.Revision && i.with(other, "revision").equals(other)
}

func (i storedItem) text() ([]byte, error) {
	text, err := cosmos.EncodeItem(i.properties)
	return text, cosmos.ToBlogError(err)
}
