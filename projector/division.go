package projector

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"cosmosblog/store"
)

// chores are the leases that are of no feed range.
var chores = []string{sweepsLease, deletionsLease, purgesLease}

// isUnknown tells of the lease of a chore that only other versions of the projector know, beside which this one may run for a while.
func isUnknown(lease store.Lease) bool {
	return lease.Container == "" && !slices.Contains(chores, lease.ID)
}

// division is how a container is divided into feed ranges now.
type division struct {
	container, resourceID string
	ranges                []store.FeedRange
}

// readDivisions reads how the containers are divided whose changes are read. What goes wrong with one, as when it is away for
// a while, is no reason to neglect the others.
func readDivisions(ctx context.Context, s *store.Store) (divisions []division, failed error) {
	for _, container := range sources {
		d, err := readDivision(ctx, s, container)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", container, err))
			continue
		}
		divisions = append(divisions, d)
	}
	return divisions, failed
}

// readDivision reads how a container is divided. Reading the resource id has a second use: the Store remembers it, and
// notices by it that a continuation is of an earlier container.
func readDivision(ctx context.Context, s *store.Store, container string) (division, error) {
	resourceID, err := s.ResourceID(ctx, container)
	if err != nil {
		return division{}, err
	}
	ranges, err := s.FeedRanges(ctx, container)
	return division{container, resourceID, ranges}, err
}

// lease is that of a feed range of which nothing was read.
func (d division) lease(r store.FeedRange) store.Lease {
	return store.Lease{
		ID:         "lease." + d.container + "." + r.Min + "-" + r.Max,
		Container:  d.container,
		Range:      r,
		ResourceID: d.resourceID,
	}
}

// overlapping gives the feed ranges that have something in common with one.
func (d division) overlapping(r store.FeedRange) []store.FeedRange {
	return slices.DeleteFunc(slices.Clone(d.ranges), func(other store.FeedRange) bool { return !other.Overlaps(r) })
}

// missingLeases gives the leases that chores and feed ranges still need. A range that overlaps a lease is not missing:
// the lease is of the range that it was split from, and its continuation goes on in both halves.
func missingLeases(divisions []division, leases []store.Lease) []store.Lease {
	var missing []store.Lease
	for _, id := range chores {
		if !slices.ContainsFunc(leases, func(lease store.Lease) bool { return lease.ID == id }) {
			missing = append(missing, store.Lease{ID: id})
		}
	}
	for _, d := range divisions {
		for _, r := range d.ranges {
			if !slices.ContainsFunc(leases, func(lease store.Lease) bool {
				return lease.Container == d.container && lease.Range.Overlaps(r)
			}) {
				missing = append(missing, d.lease(r))
			}
		}
	}
	return missing
}

// successors gives the leases that take a lease's place where its container is no longer divided as it was: those of the
// ranges that its range was split into, each with its part of the continuation. Of a container that was made anew with
// other ranges they begin at its beginning. None take the place of a lease that is of one range still; so where ranges were merged, each
// of their leases reads all that is in both.
func (d division) successors(lease store.Lease) ([]store.Lease, error) {
	ranges := d.overlapping(lease.Range)
	anew := lease.ResourceID != d.resourceID
	if len(ranges) == 0 || len(ranges) == 1 && (!anew || ranges[0] == lease.Range) {
		return nil, nil
	}
	var leases []store.Lease
	for _, r := range ranges {
		if anew {
			leases = append(leases, d.lease(r))
			continue
		}
		r = lease.Range.Intersection(r) // the rest is another lease's
		child := d.lease(r)
		var err error
		if child.Continuation, err = store.ContinuationOf(lease.Continuation, r); err != nil {
			return nil, err
		}
		leases = append(leases, child)
	}
	return leases, nil
}
