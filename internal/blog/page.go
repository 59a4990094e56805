package blog

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

// PageRequest requests First elements, from 1 to 100, after a position. If After is nil, the
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
}
