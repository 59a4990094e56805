package projector

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"cosmosblog/store/changefeed"
)

// isUnknown reports whether a lease belongs to a chore of another version of the projector.
// Versions may run side by side for a while.
func isUnknown(lease changefeed.Lease) bool {
	return lease.Container == "" && !slices.Contains(choreLeases, lease.ID)
}

// containerRanges are the current feed ranges of a container.
type containerRanges struct {
	container, resourceID string
	ranges                []changefeed.FeedRange
}

// readAllRanges reads the feed ranges of all source containers. It returns those that it could
// read, and the joined errors of the others: a container that is missing for a while does not
// block the rest.
func readAllRanges(ctx context.Context, feeds *changefeed.Feeds) (all []containerRanges, failed error) {
	for _, container := range sources {
		c, err := readRanges(ctx, feeds, container)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", container, err))
			continue
		}
		all = append(all, c)
	}
	return all, failed
}

// readRanges reads the feed ranges of a container. It must read the resource id too: the Store
// keeps it, to detect that a continuation belongs to an earlier container of the same name.
func readRanges(ctx context.Context, feeds *changefeed.Feeds, container string) (containerRanges, error) {
	resourceID, err := feeds.ResourceID(ctx, container)
	if err != nil {
		return containerRanges{}, err
	}
	ranges, err := feeds.FeedRanges(ctx, container)
	return containerRanges{container, resourceID, ranges}, err
}

// lease returns the lease of a feed range that is unread so far.
func (c containerRanges) lease(r changefeed.FeedRange) changefeed.Lease {
	return changefeed.Lease{
		ID:         "lease." + c.container + "." + r.Min + "-" + r.Max,
		Container:  c.container,
		Range:      r,
		ResourceID: c.resourceID,
	}
}

// overlapping returns the feed ranges that overlap r.
func (c containerRanges) overlapping(r changefeed.FeedRange) []changefeed.FeedRange {
	return slices.DeleteFunc(slices.Clone(c.ranges), func(other changefeed.FeedRange) bool {
		return !other.Overlaps(r)
	})
}

// missingLeases returns the leases of chores and feed ranges that do not exist yet. A range
// that overlaps a lease is not missing one: it was split from the lease's range, and the
// lease's continuation is valid in both parts.
func missingLeases(all []containerRanges, leases []changefeed.Lease) []changefeed.Lease {
	var missing []changefeed.Lease
	for _, id := range choreLeases {
		if !slices.ContainsFunc(leases, func(lease changefeed.Lease) bool { return lease.ID == id }) {
			missing = append(missing, changefeed.Lease{ID: id})
		}
	}
	for _, c := range all {
		for _, r := range c.ranges {
			if !slices.ContainsFunc(leases, func(lease changefeed.Lease) bool {
				return lease.Container == c.container && lease.Range.Overlaps(r)
			}) {
				missing = append(missing, c.lease(r))
			}
		}
	}
	return missing
}

// successors returns the leases that must replace a lease because the feed ranges of its
// container have changed, or nil if it stays.
//
//   - After a split there is one for each new range, with its part of the continuation.
//   - If the container was deleted and recreated with other ranges, they start at its
//     beginning.
//   - After a merge the leases stay, because each still lies in one range. Each reads all
//     changes of the merged range.
func (c containerRanges) successors(lease changefeed.Lease) ([]changefeed.Lease, error) {
	ranges := c.overlapping(lease.Range)
	recreated := lease.ResourceID != c.resourceID
	if len(ranges) == 0 || len(ranges) == 1 && (!recreated || ranges[0] == lease.Range) {
		return nil, nil
	}
	var leases []changefeed.Lease
	for _, r := range ranges {
		if recreated {
			leases = append(leases, c.lease(r))
			continue
		}
		r = lease.Range.Intersection(r) // another lease covers the rest
		child := c.lease(r)
		var err error
		if child.Continuation, err = changefeed.NarrowContinuation(lease.Continuation, r); err != nil {
			return nil, err
		}
		leases = append(leases, child)
	}
	return leases, nil
}
