package schema

import (
	"math/bits"

	"cosmosblog/blog"
)

// TypeCounter is the type of the counters of lists.
const TypeCounter = "counter"

// EntryItem is the entry of a post in the list of a tag or a month. It changes only with edits of
// the post and renames of its author: it has no counters and no comments.
type EntryItem struct {
	ID             string    `json:"id"` // the post's
	List           blog.List `json:"list"`
	PostID         string    `json:"postId"`
	UserID         string    `json:"userId"`
	Type           string    `json:"type"`
	UserUsername   string    `json:"userUsername"`
	AuthorRevision int64     `json:"authorRevision"`
	blog.PostHead  `json:"head"`
	CreationDate   blog.DateTime `json:"creationDate"`
	SortKey        string        `json:"sortKey"`
	UpdatedDate    blog.DateTime `json:"updatedDate,omitempty"`
	Version        int           `json:"version"`
	Revision       int64         `json:"revision"` // of the post, when it was last edited or its author renamed
	Deleted        bool          `json:"deleted"`
}

// NewEntryItem returns the entry of a post that is not deleted.
func NewEntryItem(list blog.List, post *blog.Post) EntryItem {
	return EntryItem{
		ID:             post.ID,
		List:           list,
		PostID:         post.ID,
		UserID:         post.Author.ID,
		Type:           TypePost,
		UserUsername:   post.Author.Username,
		AuthorRevision: post.Author.Revision,
		PostHead:       post.PostHead,
		CreationDate:   post.CreationDate,
		SortKey:        SortKey(post.CreationDate, post.ID),
		UpdatedDate:    post.UpdatedDate,
		Version:        post.Version,
		Revision:       post.Revision,
	}
}

// Post returns the post of the entry, without its counters and recent comments.
func (i *EntryItem) Post() *blog.Post {
	return &blog.Post{
		ID:           i.PostID,
		Author:       &blog.User{ID: i.UserID, Username: i.UserUsername, Revision: i.AuthorRevision},
		PostHead:     i.PostHead,
		CreationDate: i.CreationDate,
		UpdatedDate:  i.UpdatedDate,
		Version:      i.Version,
		Revision:     i.Revision,
		Deleted:      i.Deleted,
	}
}

// CounterID is the id of the counter of each list. No post has it.
const CounterID = "counter"

// CounterItem counts the live entries of a list, in the partition of the list. It changes in the
// transactions that change their number. It is never deleted.
type CounterItem struct {
	ID        string    `json:"id"` // CounterID
	List      blog.List `json:"list"`
	Type      string    `json:"type"`
	PostCount int       `json:"postCount"`
	Revision  int64     `json:"revision"` // counts the changes of PostCount
}

// NewCounterItem returns the counter of an empty list.
func NewCounterItem(list blog.List) CounterItem {
	return CounterItem{ID: CounterID, List: list, Type: TypeCounter}
}

// WeightItem names a list that has entries, in the partition of its kind (blog.ListKind.Plural).
type WeightItem struct {
	ID       string `json:"id"` // the name of the list in its kind
	List     string `json:"list"`
	Type     string `json:"type"`              // the name of the kind; TypeTombstone if the list is empty
	Weight   int    `json:"weight"`            // see Weight
	SortKey  string `json:"sortKey,omitempty"` // the id, if the kind is sorted by it
	Revision int64  `json:"revision"`          // of the list's counter, when the weight was computed
	TTL      int32  `json:"ttl,omitempty"`
}

// NewWeightItem returns the item of a list with a given counter. A tombstone gets no ttl.
func NewWeightItem(counter CounterItem) WeightItem {
	kind, name := counter.List.Kind()
	item := WeightItem{ID: name, List: kind.Plural, Type: kind.Name, Weight: Weight(counter.PostCount), Revision: counter.Revision}
	if kind.IsSorted {
		item.SortKey = name
	}
	if item.Weight == 0 {
		item.Type = TypeTombstone
	}
	return item
}

// weightBits is the number of binary digits that Weight keeps.
const weightBits = 3

// Weight returns a number of entries rounded down to three binary digits: less than a fifth below
// the number, and 0 only for 0. A list's weight changes so rarely that all lists of a kind can be
// in one partition, sorted by weight: a list that grows to n entries changes it about 4·log2(n)
// times.
func Weight(count int) int {
	if count <= 0 {
		return 0
	}
	dropped := max(bits.Len(uint(count))-weightBits, 0)
	return count >> dropped << dropped
}

// TombstoneItem replaces the copy of a deleted post in users and feed, and the entry of a post that
// has left a list. No list reads it.
type TombstoneItem struct {
	ID           string        `json:"id"`
	PostID       string        `json:"postId"`
	UserID       string        `json:"userId"`
	Type         string        `json:"type"`
	CreationDate blog.DateTime `json:"creationDate"`
	Revision     int64         `json:"revision"`
	Deleted      bool          `json:"deleted"`
	TTL          int32         `json:"ttl,omitempty"`
}

// NewTombstoneItem returns the tombstone of a post that expires after some seconds.
func NewTombstoneItem(post *blog.Post, tombstoneType string, ttl int32) TombstoneItem {
	return TombstoneItem{
		ID:           post.ID,
		PostID:       post.ID,
		UserID:       post.Author.ID,
		Type:         tombstoneType,
		CreationDate: post.CreationDate,
		Revision:     post.Revision,
		Deleted:      true,
		TTL:          ttl,
	}
}
