package changefeed

import (
	"context"
	"math"
	"slices"

	"cosmosblog/store/follow"
	"cosmosblog/store/schema"
)

// Ends are the ends of the change feeds of users and posts at one moment. The end of a feed is the
// LSN of its last change, or math.MaxInt64 if the account does not report it.
type Ends map[follow.Feed]int64

// ReadEnds reads the current ends of the change feeds of users and posts. It sends one request
// per feed range.
func (f *Feeds) ReadEnds(ctx context.Context) (Ends, error) {
	ends := Ends{}
	for _, container := range []string{schema.Users, schema.Posts} {
		ranges, err := f.FeedRanges(ctx, container)
		if err != nil {
			return nil, err
		}
		for _, r := range ranges {
			if ends[follow.Feed{Container: container, FeedRange: r}], err = f.endLSN(ctx, container, r); err != nil {
				return nil, err
			}
		}
	}
	return ends, nil
}

// CountBehind counts the change feeds whose checkpoints have not passed their end. In all other
// feeds, the changes up to the end are projected. Error: follow.ErrContainerReplaced if a
// checkpoint belongs to an earlier container.
func (f *Feeds) CountBehind(ctx context.Context, ends Ends) (int, error) {
	leases, err := f.Leases(ctx)
	if err != nil {
		return 0, err
	}
	n := 0
	for feed, end := range ends {
		passed, err := f.Passed(ctx, feed, end, leases)
		if err != nil {
			return 0, err
		}
		if !passed {
			n++
		}
	}
	return n, nil
}

// ProjectedOf returns how far the checkpoints of leases are, in the sum of all feeds up to their
// ends. A feed without a lease has not been read. Feeds whose ends or checkpoints have no number,
// or whose ranges were split since, are left out.
func ProjectedOf(leases []Lease, ends Ends) follow.Progress {
	var sum follow.Progress
	for feed, end := range ends {
		n := slices.IndexFunc(leases, func(l Lease) bool { return l.Container == feed.Container && l.Range.Overlaps(feed.FeedRange) })
		var number int64
		if n >= 0 && leases[n].Continuation != "" {
			var ok bool
			if number, ok = follow.ContinuationNumber(leases[n].Continuation); !ok {
				continue
			}
		}
		if end == math.MaxInt64 || n >= 0 && leases[n].Range != feed.FeedRange {
			continue
		}
		sum.Done += min(number, end)
		sum.Total += end
	}
	return sum
}

// Passed reports whether a change feed has a lease whose checkpoint has passed end. If the feed
// range was split since, the LSNs of its parts cannot be compared with end. The checkpoint of each
// part must then be at the end of the part's own feed. Error: follow.ErrContainerReplaced.
func (f *Feeds) Passed(ctx context.Context, feed follow.Feed, end int64, leases []Lease) (bool, error) {
	leased := false
	for _, lease := range leases {
		if lease.Container != feed.Container || !lease.Range.Overlaps(feed.FeedRange) {
			continue
		}
		if lease.Range != feed.FeedRange {
			end = math.MaxInt64 // split
		}
		behind, err := f.hasChangeUpTo(ctx, feed.Container, lease.Range, lease.Continuation, end)
		if err != nil || behind {
			return false, err
		}
		leased = true
	}
	return leased, nil
}

// endLSN reads the LSN of the last change in a feed range, or a greater unused
// LSN. It returns math.MaxInt64 if the account does not report the LSN. LSNs increase with every
// change in a feed range.
func (f *Feeds) endLSN(ctx context.Context, container string, feedRange follow.FeedRange) (int64, error) {
	page, err := f.ReadPage(ctx, container, feedRange, "", 1)
	if err != nil {
		return 0, err
	}
	if page.End >= 0 {
		return page.End, nil
	}
	return math.MaxInt64, nil
}

// hasChangeUpTo reports whether the change feed has a change with an LSN up to end after a
// continuation. An item that changed several times has only the LSN of its last change. An empty
// page from a replica that is behind end, or behind the continuation, is inconclusive; then it
// returns true. A replica catches up, so a later call tells. If it does not, the container went
// back to an earlier state, and the continuation has not passed what was written since. Error:
// follow.ErrContainerReplaced if the continuation belongs to an earlier container of this name.
func (f *Feeds) hasChangeUpTo(ctx context.Context, container string, feedRange follow.FeedRange, continuation string, end int64) (bool, error) {
	page, err := f.ReadPage(ctx, container, feedRange, continuation, 1)
	if err != nil {
		return false, err
	}
	if len(page.Items) == 0 {
		return page.IsBeyondEnd() || page.End >= 0 && page.End < end && end != math.MaxInt64, nil
	}
	next, err := follow.ChangeOf(page.Items[0])
	return err == nil && next.LSN <= end, err
}
