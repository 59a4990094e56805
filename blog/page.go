package blog

import "sync/atomic"

// Position is the sort key of an element of a list. It stays valid while the list grows. The
// elements after it are older in lists of posts and likes and in the feed. In lists of comments,
// the CommentOrder decides.
type Position struct {
	CreationDate DateTime
	ID           string
	// Rank is the number of feed elements that were returned up to and including this one. The
	// feed ends after the 100th. Rank is 0 in other lists.
	Rank int
}

// PageRequest requests First elements, from 0 to 100, after a position. If After is nil, the
// page starts at the beginning of the list.
type PageRequest struct {
	First int
	After *Position
	// Order is for lists of comments only. If it is empty, it is OldestFirst.
	Order CommentOrder
}

// The default and the maximum number of elements of a page.
const (
	DefaultPageSize = 20
	MaxPageSize     = 100
)

// MaxAnswerBytes is the maximum size of the data of an answer. The schema's scalars have no access
// to the settings of a server, so they stop writing there.
const MaxAnswerBytes = 8 << 20

// CommentOrder is the order of a list of comments, by creation date. The same positions are valid
// in both.
type CommentOrder string

// The orders of comments.
const (
	OldestFirst CommentOrder = "OLDEST_FIRST"
	NewestFirst CommentOrder = "NEWEST_FIRST"
)

// Page is one page of a list.
type Page[T any] struct {
	Items       []T
	Positions   []Position // of each item
	HasNextPage bool
	Total       int // the number of elements of the whole list, if the reader knows it

	// Text is not nil if requests share the items.
	Text *PageText
}

// PageText keeps the last text that was made of a page that requests share, so that the next
// request for the same text need not make it again. It may be used concurrently.
type PageText struct {
	room int
	last atomic.Pointer[keptText]
}

// TextKey identifies a text of a page by all that it depends on, besides the items and the list.
type TextKey struct {
	Selection   uint64 // the number of the selected fields, from 1
	After       bool
	Rank        int // of the first item
	HasNextPage bool
	Total       int
}

type keptText struct {
	key  TextKey
	text []byte
}

// NewPageText returns a PageText with room for a text of so many bytes.
func NewPageText(room int) *PageText { return &PageText{room: room} }

// Get returns the text if it is the last one, and nil otherwise. It must not be changed.
func (t *PageText) Get(key TextKey) []byte {
	if last := t.last.Load(); last != nil && last.key == key {
		return last.text
	}
	return nil
}

// Keep keeps a text unless it is too long. It must not be changed afterwards.
func (t *PageText) Keep(key TextKey, text []byte) {
	if len(text) <= t.room {
		t.last.Store(&keptText{key, text})
	}
}
