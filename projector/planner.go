package projector

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"slices"
	"time"

	"cosmosblog/store/changefeed"
)

// snapshot is the input of the planner.
type snapshot struct {
	self      string
	takeOver  bool
	temporary bool
	expire    time.Duration // of owners without a heartbeat
	leases    []observedLease
	held      map[string]bool // ids of the leases that this projector works on
}

// observedLease is a lease, and the time for which this projector observed neither a change of it
// nor a heartbeat of its owner. The planner never compares the clocks of two machines.
type observedLease struct {
	changefeed.Lease
	unchanged time.Duration
	expire    time.Duration // of the owner (changefeed.Heartbeat); 0 if it is not known
}

// plan is the output of the planner.
type plan struct {
	lost     []changefeed.Lease // that this projector works on, and has not, as it seems
	reclaim  []changefeed.Lease // with our name, but without a worker
	free     []changefeed.Lease // without an owner, or expired; in order of preference
	takeFree int                // the number of free leases to take
	steal    []changefeed.Lease // at most one
}

// planLeases decides which leases to take. A lease is free if it has no owner, or if its owner
// shows no sign of life. Free leases are taken up to a fair share.
//
// A lease with our name that we do not work on is always taken: this projector held it before a
// restart, or the answer to our own write was lost.
//
// If no lease is free and another owner has at least two more than we have, one lease is stolen.
// After some rounds, the loads differ by at most one, and no lease moves any more. A
// projector never releases a lease merely because it has more than its share.
func planLeases(s snapshot) plan {
	var p plan
	loads := s.loads()
	for _, lease := range s.leases {
		switch {
		case s.held[lease.ID] && lease.Owner == s.self:
		case s.held[lease.ID]:
			p.lost = append(p.lost, lease.Lease)
		case lease.Owner == s.self:
			p.reclaim = append(p.reclaim, lease.Lease)
		case s.isFree(lease):
			p.free = append(p.free, lease.Lease)
		}
	}
	p.free = s.preferred(p.free)
	p.takeFree = max(0, min(s.share(loads)-loads[s.self], len(p.free)))
	if len(p.free) == 0 && loads[s.self] < s.share(loads) && !s.temporary {
		p.steal = s.steal(loads)
	}
	return p
}

func (s snapshot) isFree(lease observedLease) bool {
	return lease.Owner == "" || lease.Owner != s.self && (s.takeOver || s.leftOf(lease) <= 0)
}

// leftOf returns the time until a lease of another owner expires.
func (s snapshot) leftOf(lease observedLease) time.Duration {
	return cmp.Or(lease.expire, s.expire) - lease.unchanged
}

// loads counts the unexpired leases of each owner, including owners that have let another lease
// expire.
func (s snapshot) loads() map[string]int {
	loads := map[string]int{s.self: 0}
	for _, lease := range s.leases {
		if !s.isFree(lease) {
			loads[lease.Owner]++
		}
	}
	return loads
}

// share is the fair share of one owner: all leases divided by the active owners, including us,
// rounded up. Owners that have let a lease expire are not active.
func (s snapshot) share(loads map[string]int) int {
	active := len(loads)
	for owner := range loads {
		if s.hasExpiredLease(owner) {
			active--
		}
	}
	return (len(s.leases) + active - 1) / active
}

func (s snapshot) hasExpiredLease(owner string) bool {
	return owner != s.self && slices.ContainsFunc(s.leases, func(lease observedLease) bool {
		return lease.Owner == owner && s.isFree(lease)
	})
}

// steal returns one lease of the owners with the highest load, if that is at least two above ours.
// It never returns a lease that another projector has just taken from us and whose worker still
// runs.
func (s snapshot) steal(loads map[string]int) []changefeed.Lease {
	most := 0
	for _, load := range loads {
		most = max(most, load)
	}
	if most < loads[s.self]+2 {
		return nil
	}
	var theirs []changefeed.Lease
	for _, lease := range s.leases {
		if loads[lease.Owner] == most && !s.held[lease.ID] {
			theirs = append(theirs, lease.Lease)
		}
	}
	return s.preferred(theirs)[:min(1, len(theirs))]
}

// preferred sorts leases in an order that differs between projectors, so that they rarely try to
// take the same lease at the same time.
func (s snapshot) preferred(leases []changefeed.Lease) []changefeed.Lease {
	rank := func(lease changefeed.Lease) []byte {
		sum := sha256.Sum256([]byte(s.self + "\x00" + lease.ID))
		return sum[:]
	}
	slices.SortFunc(leases, func(a, b changefeed.Lease) int { return bytes.Compare(rank(a), rank(b)) })
	return leases
}

// isAlone reports whether this projector works on all leases.
func (s snapshot) isAlone() bool {
	return !slices.ContainsFunc(s.leases, func(lease observedLease) bool { return lease.Owner != s.self })
}

// nextExpiry returns the time until the next lease of another owner expires unless that shows a
// sign of life, at most the given time.
func (s snapshot) nextExpiry(most time.Duration) time.Duration {
	for _, lease := range s.leases {
		if lease.Owner != s.self && !s.isFree(lease) {
			most = min(most, s.leftOf(lease))
		}
	}
	return most
}
