package changefeed

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"cosmosblog/store/cosmos"
	"cosmosblog/store/follow"
)

// FeedRanges reads the current feed ranges of a container. Changes also accepts feed ranges that
// were split since.
func (f *Feeds) FeedRanges(ctx context.Context, container string) ([]follow.FeedRange, error) {
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
	feedRanges := make([]follow.FeedRange, len(ranges))
	for i, r := range ranges {
		feedRanges[i] = follow.FeedRange{Min: r.MinInclusive, Max: r.MaxExclusive}
	}
	return feedRanges, nil
}

// feedRangesOf returns ranges in their order.
func feedRangesOf(read []cosmos.PartitionKeyRange) []follow.FeedRange {
	ranges := make([]follow.FeedRange, len(read))
	for i, r := range read {
		ranges[i] = follow.FeedRange{Min: r.MinInclusive, Max: r.MaxExclusive}
	}
	slices.SortFunc(ranges, func(a, b follow.FeedRange) int { return strings.Compare(a.Min, b.Min) })
	return ranges
}

// areWhole reports whether ranges, in their order, cover a container without gaps or overlaps.
func areWhole(ranges []follow.FeedRange) bool {
	end := ""
	for _, r := range ranges {
		if r.Min != end {
			return false
		}
		end = r.Max
	}
	return end == "FF"
}

// Follower returns a follower of the feeds of users, posts and usernames, by pages of up to
// pageSize items. Its reads wait if the account throttles them, and are in the session of their
// context.
func (f *Feeds) Follower(pageSize int) follow.Follower {
	read := func(ctx context.Context, feed follow.Feed, continuation string, limit int) (follow.Page, error) {
		return cosmos.Retried(ctx, f.db, func(ctx context.Context) (follow.Page, error) {
			if feed.IsAllItems() {
				return f.ReadItems(ctx, feed.Container, continuation, limit)
			}
			page, err := f.ReadPage(ctx, feed.Container, feed.FeedRange, continuation, limit)
			if err == nil && page.IsBeyondEnd() { // which an empty page of another container looks like
				var now Layout // read once a minute, as the page may be read again every second
				if now, err = f.Layout(ctx, feed.Container); err == nil && now.ResourceID != page.ResourceID {
					err = follow.ErrContainerReplaced
				}
			}
			return page, err
		})
	}
	return follow.Follower{Read: read, PageSize: pageSize, Now: f.db.EarliestNow, Sleep: f.db.Sleep}
}

// Beginnings returns the positions at the beginnings of all feeds of containers, in their order. It
// waits if the account throttles it.
func (f *Feeds) Beginnings(ctx context.Context, containers ...string) (positions []follow.Position, err error) {
	for _, container := range containers {
		ranges, err := cosmos.Retried(ctx, f.db, func(ctx context.Context) ([]follow.FeedRange, error) {
			return f.FeedRanges(ctx, container)
		})
		if err != nil {
			return nil, err
		}
		for _, r := range ranges {
			positions = append(positions, follow.Position{Feed: follow.Feed{Container: container, FeedRange: r}, Since: f.db.EarliestNow()})
		}
	}
	return positions, nil
}

// Layout are the resource id of a container (ResourceID) and its feed ranges.
type Layout struct {
	ResourceID string
	Ranges     []follow.FeedRange
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
