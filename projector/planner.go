package projector

import (
	"slices"
	"time"

	"cosmosblog/store"
)

// situation is all that a plan depends on.
type situation struct {
	me       string
	takeOver bool
	expire   time.Duration
	leases   []sightedLease
	held     map[string]bool // ids of the leases that this projector works on
}

// sightedLease is a lease, and for how long it was seen without a change. No two machines' clocks are ever compared.
type sightedLease struct {
	store.Lease
	unchanged time.Duration
}

// plan is what to do about leases, in the order in which they were listed.
type plan struct {
	acquire []store.Lease // to write with our name
	renew   []string      // ids of what we work on and still have
	drop    []string      // ids of what we work on and have no longer
}

// planLeases decides. It takes every lease that nobody has, or whose owner no longer renews it, or that is ours without our
// working on it: then an earlier life of this projector had it, or the answer to our own write got lost.
func planLeases(s situation) plan {
	var p plan
	listed := make(map[string]bool, len(s.leases))
	for _, lease := range s.leases {
		listed[lease.ID] = true
		switch held := s.held[lease.ID]; {
		case held && lease.Owner == s.me:
			p.renew = append(p.renew, lease.ID)
		case held:
			p.drop = append(p.drop, lease.ID)
		case lease.Owner == "" || lease.Owner == s.me || s.takeOver || lease.unchanged >= s.expire:
			p.acquire = append(p.acquire, lease.Lease)
		}
	}
	for id := range s.held {
		if !listed[id] {
			p.drop = append(p.drop, id)
		}
	}
	return p
}

// chores are the leases that are of no feed range.
var chores = []string{sweepsLease, deletionsLease}

// missingChores gives the chores that are not there yet.
func missingChores(leases []store.Lease) []store.Lease {
	var missing []store.Lease
	for _, id := range chores {
		if !slices.ContainsFunc(leases, func(lease store.Lease) bool { return lease.ID == id }) {
			missing = append(missing, store.Lease{ID: id})
		}
	}
	return missing
}

// missingLeases gives the leases that a container's feed ranges still need. A range that overlaps a lease is not missing:
// the lease is of the range that it was split from, and its continuation goes on in both halves.
func missingLeases(container, resourceID string, ranges []store.FeedRange, leases []store.Lease) []store.Lease {
	var missing []store.Lease
	for _, r := range ranges {
		if !covered(container, r, leases) {
			missing = append(missing, store.Lease{
				ID:         "lease." + container + "." + r.Min + "-" + r.Max,
				Container:  container,
				Range:      r,
				ResourceID: resourceID,
			})
		}
	}
	return missing
}

func covered(container string, r store.FeedRange, leases []store.Lease) bool {
	for _, lease := range leases {
		if lease.Container == container && lease.Range.Overlaps(r) {
			return true
		}
	}
	return false
}
