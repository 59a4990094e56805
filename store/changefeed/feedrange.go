package changefeed

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

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
	read, err := f.db.ReadPartitionKeyRanges(ctx, container)
	if err != nil {
		return nil, err
	}
	if ranges := feedRangesOf(read); areWhole(ranges) {
		return ranges, nil
	}
	// An answer may be incomplete, or of a moment within a split. azcosmos repeats it until it is not.
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

// feedRangesOf returns ranges in their order.
func feedRangesOf(read []cosmos.PartitionKeyRange) []FeedRange {
	ranges := make([]FeedRange, len(read))
	for i, r := range read {
		ranges[i] = FeedRange{r.MinInclusive, r.MaxExclusive}
	}
	slices.SortFunc(ranges, func(a, b FeedRange) int { return strings.Compare(a.Min, b.Min) })
	return ranges
}

// areWhole reports whether ranges, in their order, cover a container without gaps or overlaps.
func areWhole(ranges []FeedRange) bool {
	end := ""
	for _, r := range ranges {
		if r.Min != end {
			return false
		}
		end = r.Max
	}
	return end == "FF"
}

// Layout are the resource id of a container (ResourceID) and its feed ranges.
type Layout struct {
	ResourceID string
	Ranges     []FeedRange
}

// layoutAge is the time for which a layout is kept. An account answers only 500 requests for the
// definitions of databases and containers in five minutes, whoever sends them
// (learn.microsoft.com/azure/cosmos-db/concepts-limits).
const layoutAge = time.Minute

// layouts are the layouts that were read, by container. They may be used concurrently.
type layouts struct {
	mu   sync.Mutex
	kept map[string]keptLayout
}

type keptLayout struct {
	Layout
	at time.Time
}

// Layout returns the layout of a container, as of the last minute, or a former one if the account
// answers no more requests for metadata, unless ForgetLayout was called. The result must not be
// changed.
func (f *Feeds) Layout(ctx context.Context, container string) (Layout, error) {
	f.layouts.mu.Lock()
	kept, ok := f.layouts.kept[container]
	f.layouts.mu.Unlock()
	if ok && time.Since(kept.at) < layoutAge {
		return kept.Layout, nil
	}
	at := time.Now()
	layout, err := f.readLayout(ctx, container)
	if ok && cosmos.IsThrottled(err) {
		layout, err = kept.Layout, nil // for another minute
	}
	if err != nil {
		return Layout{}, err
	}
	f.layouts.mu.Lock()
	defer f.layouts.mu.Unlock()
	f.layouts.kept[container] = keptLayout{layout, at}
	return layout, nil
}

func (f *Feeds) readLayout(ctx context.Context, container string) (Layout, error) {
	resourceID, err := f.ResourceID(ctx, container)
	if err != nil {
		return Layout{}, err
	}
	ranges, err := f.FeedRanges(ctx, container)
	return Layout{resourceID, ranges}, err
}

// ForgetLayout makes the next Layout of a container read it: a page of its change feed shows that
// it has changed.
func (f *Feeds) ForgetLayout(container string) {
	f.layouts.mu.Lock()
	defer f.layouts.mu.Unlock()
	delete(f.layouts.kept, container)
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
