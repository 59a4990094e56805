package projector

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"cosmosblog/store/changefeed"
	"cosmosblog/store/follow"
)

// Lag reports how far the views are behind the change feed of one feed range.
type Lag struct {
	Container string
	Range     follow.FeedRange
	Held      bool   // whether a projector of this process holds the lease
	Position  string // the continuation from which the lag is measured
	changefeed.FeedLag
}

// For returns the age of the oldest change that is not projected, or 0 if there is none. The age is
// the difference between now and a time of the account's clock.
func (l Lag) For(now time.Time) time.Duration {
	if l.Since.IsZero() {
		return 0
	}
	return max(0, now.Sub(l.Since))
}

// Lags returns the lag of every feed range, including those that no projector works on. It
// costs one request for each feed range, and a few more.
//
// held are the feeds of the projectors in this process (Feeds). Their lag is measured from the
// latest projected change. The lag of other feed ranges is measured from the checkpoint, which is
// at most a few seconds older.
//
// The error joins those of single containers and feed ranges. The lags of the others are valid.
func Lags(ctx context.Context, feeds *changefeed.Feeds, held ...changefeed.Lease) ([]Lag, error) {
	positions, failed := readPositions(ctx, feeds, held)
	r := lagReader{feeds: feeds, failed: []error{failed}}
	var group errgroup.Group
	group.SetLimit(parallelLags)
	for _, p := range positions {
		group.Go(func() error { r.read(ctx, p); return nil })
	}
	group.Wait()
	slices.SortFunc(r.found, func(a, b Lag) int {
		return cmp.Or(cmp.Compare(a.Container, b.Container),
			cmp.Compare(a.Range.Min, b.Range.Min), cmp.Compare(a.Range.Max, b.Range.Max))
	})
	return r.found, errors.Join(r.failed...)
}

// parallelLags is the number of feed ranges that are read at a time.
const parallelLags = 8

// lagReader collects the lags of one call of Lags.
type lagReader struct {
	feeds *changefeed.Feeds

	mu     sync.Mutex // guards the fields below
	found  []Lag
	failed []error
}

func (r *lagReader) read(ctx context.Context, p feedPosition) {
	lag, err := r.feeds.FeedLag(ctx, p.Container, p.Range, p.Continuation)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.failed = append(r.failed, fmt.Errorf("%s %s: %w", p.Container, p.Range, err))
		return
	}
	r.found = append(r.found, Lag{p.Container, p.Range, p.held, p.Continuation, lag})
}

// feedPosition is the position up to which a feed range is projected.
type feedPosition struct {
	changefeed.Lease
	held bool
}

// readPositions returns the positions of all feed ranges, including those without a lease.
func readPositions(
	ctx context.Context, feeds *changefeed.Feeds, held []changefeed.Lease,
) (positions []feedPosition, failed error) {
	ranges, failed := readAllRanges(ctx, feeds)
	leases, err := feedLeases(ctx, feeds, ranges)
	if err != nil {
		return nil, errors.Join(failed, err)
	}
	for _, lease := range leases {
		i := slices.IndexFunc(held, func(held changefeed.Lease) bool { return held.ID == lease.ID })
		if i >= 0 {
			lease = held[i]
		}
		parts, err := partsOf(lease, ranges, leases)
		failed = errors.Join(failed, err)
		for _, part := range parts {
			positions = append(positions, feedPosition{part, i >= 0})
		}
	}
	return positions, failed
}

// feedLeases returns the leases of all feed ranges, including those that do not exist yet. If
// one is missing, it lists the leases a second time: during a split, one listing may contain
// neither the parent nor its children.
func feedLeases(
	ctx context.Context, feeds *changefeed.Feeds, ranges []containerRanges,
) ([]changefeed.Lease, error) {
	leases, err := feeds.Leases(ctx)
	if err == nil && slices.ContainsFunc(missingLeases(ranges, leases), isFeed) {
		leases, err = feeds.Leases(ctx)
	}
	leases = append(leases, missingLeases(ranges, leases)...)
	return slices.DeleteFunc(leases, func(lease changefeed.Lease) bool { return !isFeed(lease) }), err
}

// partsOf returns the successors of a lease whose range was split, without those that exist
// already. If the range was not split, it returns the lease itself.
func partsOf(
	lease changefeed.Lease, ranges []containerRanges, leases []changefeed.Lease,
) ([]changefeed.Lease, error) {
	i := slices.IndexFunc(ranges, func(c containerRanges) bool {
		return c.container == lease.Container
	})
	if i < 0 {
		return []changefeed.Lease{lease}, nil
	}
	parts, err := ranges[i].successors(lease)
	if err != nil || len(parts) == 0 {
		return []changefeed.Lease{lease}, err
	}
	return slices.DeleteFunc(parts, func(part changefeed.Lease) bool {
		return slices.ContainsFunc(leases, func(existing changefeed.Lease) bool {
			return existing.ID == part.ID
		})
	}), nil
}
