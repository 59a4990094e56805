package blog

// Position is a place in a list that stays where it is while the list grows: the sort key of one element. What comes
// after it is what is older (posts, feed, likes) or newer (comments).
type Position struct {
	CreationDate DateTime
	ID           string
	// Rank is how many elements of the feed were given out up to and with this one: the feed ends after the 100th. 0 in
	// the other lists.
	Rank int
}

// PageRequest asks for the First elements after a position, or from the beginning where After is nil. First is 1–100.
type PageRequest struct {
	First int
	After *Position
}

// The sizes of a page.
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
