package blog

// Position is the sort key of an element of a list. It stays valid while the list grows. The
// elements after it are older in lists of posts and likes and in the feed, and newer in lists
// of comments.
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
}

// The default and the maximum number of elements of a page.
const (
	DefaultPageSize = 20
	MaxPageSize     = 100
)

// Page is one page of a list.
type Page[T any] struct {
	Items       []T
	Positions   []Position // of each item
	HasNextPage bool
}
