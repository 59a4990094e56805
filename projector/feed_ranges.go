package projector

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/follow"
)

// containerRanges are the current feed ranges of a container. They determine which leases must
// exist: see missingLeases and successors.
type containerRanges struct {
	container, resourceID string
	ranges                []follow.FeedRange
}

// readAllRanges reads the feed ranges of all source containers. If that fails for some, it returns
// the others and the joined errors, so that a missing container does not block the rest.
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

// readRanges returns the feed ranges of a container, and its resource id, as of the last minute.
// Leases store the resource id, because the continuation of an earlier container with the same name
// is not valid.
func readRanges(ctx context.Context, feeds *changefeed.Feeds, container string) (containerRanges, error) {
	layout, err := feeds.Layout(ctx, container)
	return containerRanges{container, layout.ResourceID, layout.Ranges}, err
}

// readRangesAnew is readRanges as of now.
func readRangesAnew(ctx context.Context, feeds *changefeed.Feeds, container string) (containerRanges, error) {
	feeds.ForgetLayout(container)
	return readRanges(ctx, feeds, container)
}

func isFeed(lease changefeed.Lease) bool { return lease.Container != "" }

// lease returns the lease of a feed range that is unread so far.
func (c containerRanges) lease(r follow.FeedRange) changefeed.Lease {
	return changefeed.Lease{
		ID:         "lease." + c.container + "." + r.Min + "-" + r.Max,
		Container:  c.container,
		Range:      r,
		ResourceID: c.resourceID,
	}
}

// overlapping returns the feed ranges that overlap r.
func (c containerRanges) overlapping(r follow.FeedRange) []follow.FeedRange {
	return slices.DeleteFunc(slices.Clone(c.ranges), func(other follow.FeedRange) bool {
		return !other.Overlaps(r)
	})
}

// missingLeases returns the leases of chores and feed ranges that do not exist yet. A range that
// overlaps the range of a lease needs no new one: it is part of a range that was split, and the
// lease's successors will cover it. But a range that others were merged into needs one: see merged.
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
			} else if lease, ok := c.merged(r, leases); ok {
				missing = append(missing, lease)
			}
		}
	}
	return missing
}

// merged returns the lease of a feed range that the ranges of several leases were merged into. ok
// is false if they were not, and if it exists. It begins at the earliest of their continuations, so
// nothing is missed if the others are deleted after it is created (isMerged). Changes that are read
// twice have no effect.
//
// If the leases stayed, each would read all changes of the merged range for ever, because azcosmos
// (1.5.0) does not send the bounds of a part. SDKs that do keep them (azure-cosmos-dotnet-v3, pull
// request 2013), at the cost of a request for each.
func (c containerRanges) merged(r follow.FeedRange, leases []changefeed.Lease) (whole changefeed.Lease, ok bool) {
	var parts []changefeed.Lease
	for _, lease := range leases {
		if lease.Container == c.container && lease.Range.Overlaps(r) {
			parts = append(parts, lease)
		}
	}
	slices.SortFunc(parts, func(a, b changefeed.Lease) int { return strings.Compare(a.Range.Min, b.Range.Min) })
	whole = c.lease(r)
	end, continuations, position := r.Min, []string(nil), cosmos.SessionToken{}
	views := cosmos.SessionTokens{}
	for i, part := range parts {
		if part.Range.Min != end || part.ResourceID != c.resourceID || part.History != parts[0].History {
			return whole, false
		}
		end = part.Range.Max
		continuations = append(continuations, part.Continuation)
		position.MergeEarlier(part.Position)
		if i == 0 || part.AsOf < whole.AsOf {
			whole.AsOf = part.AsOf
		}
		if of, err := cosmos.ParseSessionTokens(part.Views); err == nil {
			views.Merge(of)
		}
	}
	if len(parts) < 2 || end != r.Max {
		return whole, false
	}
	whole.History, whole.Views = parts[0].History, views.String()
	if whole.AsOf != "" { // each has a position
		whole.Position = position.String()
	}
	whole.Continuation, ok, _ = follow.MergeContinuations(continuations, r)
	return whole, ok
}

// isMerged reports whether the range of a lease was merged with others into a range that has a
// lease of its own.
func (c containerRanges) isMerged(lease changefeed.Lease, leases []changefeed.Lease) bool {
	ranges := c.overlapping(lease.Range)
	return len(ranges) == 1 && ranges[0] != lease.Range && lease.ResourceID == c.resourceID &&
		slices.ContainsFunc(leases, func(other changefeed.Lease) bool {
			return other.Container == c.container && other.Range == ranges[0] && other.ResourceID == c.resourceID
		})
}

// successors returns the leases that must replace a lease because the feed ranges of its
// container have changed, or nil if the lease stays.
//
//   - After a split, each new range gets a lease with its part of the continuation.
//   - If the container was deleted and recreated with other ranges, the new leases start at the
//     beginning of the container.
//   - After a merge, the leases stay until the merged range has one: see merged.
func (c containerRanges) successors(lease changefeed.Lease) ([]changefeed.Lease, error) {
	ranges := c.overlapping(lease.Range)
	recreated := lease.ResourceID != c.resourceID
	if len(ranges) == 0 || len(ranges) == 1 && (!recreated || ranges[0] == lease.Range) {
		return nil, nil
	}
	var leases []changefeed.Lease
	for _, r := range ranges {
		if recreated {
			begun := c.lease(r)
			begun.History = lease.History
			leases = append(leases, begun)
			continue
		}
		r = lease.Range.Intersection(r) // another lease covers the rest
		child := c.lease(r)
		child.History, child.Position, child.AsOf, child.Views = lease.History, lease.Position, lease.AsOf, lease.Views
		var err error
		if child.Continuation, err = follow.NarrowContinuation(lease.Continuation, r); err != nil {
			return nil, err
		}
		leases = append(leases, child)
	}
	return leases, nil
}
