package changefeed

import (
	"strings"
)

// FeedRange is one part of a container's partition key space, as the account divides it. The changes of one feed range
// come in one order, and feed ranges are read independently of one another.
type FeedRange struct {
	Min string `json:"min"` // inclusive, "" is the beginning
	Max string `json:"max"` // exclusive, "FF" is the end
}

// Overlaps tells whether two feed ranges have something in common.
func (r FeedRange) Overlaps(other FeedRange) bool {
	return isBelow(r.Min, other.Max) && isBelow(other.Min, r.Max)
}

// Intersection gives what two feed ranges that overlap have in common.
func (r FeedRange) Intersection(other FeedRange) FeedRange {
	if isBelow(r.Min, other.Min) {
		r.Min = other.Min
	}
	if isBelow(other.Max, r.Max) {
		r.Max = other.Max
	}
	return r
}

// isBelow compares two boundaries. A boundary is hexadecimal digits after a point: zeros at its end mean nothing.
func isBelow(a, b string) bool {
	const zero = "0"
	return strings.TrimRight(a, zero) < strings.TrimRight(b, zero)
}

// String names the feed range by its boundaries, "-FF" where it is the whole container.
func (r FeedRange) String() string { return r.Min + "-" + r.Max }
