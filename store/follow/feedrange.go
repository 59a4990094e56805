package follow

import "strings"

// FeedRange is a part of a container's partition key space, as the account divides it. The
// changes of one feed range are ordered. Different feed ranges are read independently.
type FeedRange struct {
	Min string `json:"min"` // inclusive; "" is the beginning
	Max string `json:"max"` // exclusive; "FF" is the end
}

// Feed identifies the change feed of one feed range of a container.
type Feed struct {
	Container string `json:"container"`
	FeedRange
}

// AllItems returns the feed that stands for all items of a container, in no order. Its range is
// empty, as that of no change feed is.
func AllItems(container string) Feed { return Feed{Container: container} }

// IsAllItems reports whether the feed is AllItems.
func (f Feed) IsAllItems() bool { return f.FeedRange == FeedRange{} }

// Name returns the name of a change feed, "container.min-max".
func (f Feed) Name() string { return f.Container + "." + f.FeedRange.String() }

// Overlaps reports whether two feed ranges overlap.
func (r FeedRange) Overlaps(other FeedRange) bool {
	return isBelow(r.Min, other.Max) && isBelow(other.Min, r.Max)
}

// Intersection returns the common part of two overlapping feed ranges.
func (r FeedRange) Intersection(other FeedRange) FeedRange {
	if isBelow(r.Min, other.Min) {
		r.Min = other.Min
	}
	if isBelow(other.Max, r.Max) {
		r.Max = other.Max
	}
	return r
}

// isBelow compares two boundaries. A boundary is a hexadecimal fraction: trailing zeros do not
// matter.
func isBelow(a, b string) bool {
	const zero = "0"
	return strings.TrimRight(a, zero) < strings.TrimRight(b, zero)
}

// String returns the boundaries, "-FF" for the whole container.
func (r FeedRange) String() string { return r.Min + "-" + r.Max }
