package changefeed

import (
	"context"
	"strings"

	"cosmosblog/store/cosmos"
)

// FeedRange is a part of a container's partition key space, as the account divides it. The
// changes of one feed range are ordered. Different feed ranges are read independently.
type FeedRange struct {
	Min string `json:"min"` // inclusive; "" is the beginning
	Max string `json:"max"` // exclusive; "FF" is the end
}

// FeedRanges reads the current feed ranges of a container. Changes also accepts feed ranges that
// were split since.
func (f *Feeds) FeedRanges(ctx context.Context, container string) ([]FeedRange, error) {
	ranges, err := f.db.Container(container).ReadFeedRanges(ctx, nil)
	if err != nil {
		return nil, cosmos.ToBlogError(err)
	}
	feedRanges := make([]FeedRange, len(ranges))
	for i, r := range ranges {
		feedRanges[i] = FeedRange{r.MinInclusive, r.MaxExclusive}
	}
	return feedRanges, nil
}

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
