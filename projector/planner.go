package projector

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"time"

	"cosmosblog/store"
)

// situation is all that a plan depends on.
type situation struct {
	me        string
	takeOver  bool
	temporary bool
	expire    time.Duration
	leases    []sightedLease
	held      map[string]bool // ids of the leases that this projector works on
}

// sightedLease is a lease, and for how long it was seen without a change. No two machines' clocks are ever compared.
type sightedLease struct {
	store.Lease
	unchanged time.Duration
}

// plan is which leases to take. What we work on and somebody else took is not in it: that shows when it is renewed.
type plan struct {
	mine  []store.Lease // that bear our name without our working on them
	free  []store.Lease // that nobody has, the preferred ones first
	take  int           // how many of the free ones
	steal []store.Lease // one at most
}

// planLeases decides. A lease is free that nobody has, or whose owner no longer renews it, and they are taken up to a fair
// share. One that bears our name without our working on it is ours in any case: an earlier life of this projector had
// it, or the answer to our own write got lost.
//
// Where nothing is free and somebody has at least two more than we, one lease is stolen, so that one round after the
// other the numbers come to differ by one at most; then nothing moves any more. Nobody gives leases up for being above the
// share.
func planLeases(s situation) plan {
	var p plan
	loads := s.loads()
	for _, lease := range s.leases {
		switch {
		case s.held[lease.ID]:
		case lease.Owner == s.me:
			p.mine = append(p.mine, lease.Lease)
		case s.isFree(lease):
			p.free = append(p.free, lease.Lease)
		}
	}
	p.free = s.preferred(p.free)
	p.take = max(0, min(s.share(loads)-loads[s.me], len(p.free)))
	if len(p.free) == 0 && loads[s.me] < s.share(loads) && !s.temporary {
		p.steal = s.steal(loads)
	}
	return p
}

func (s situation) isFree(lease sightedLease) bool {
	return lease.Owner == "" || lease.Owner != s.me && (s.takeOver || lease.unchanged >= s.expire)
}

// loads counts the leases of each owner, and so tells who lives. Of an owner that let a lease expire the rest will: they
// are still theirs, but nothing is left for their share.
func (s situation) loads() map[string]int {
	loads := map[string]int{s.me: 0}
	for _, lease := range s.leases {
		if !s.isFree(lease) {
			loads[lease.Owner]++
		}
	}
	return loads
}

// share is how many leases are one owner's part: of all, divided by the owners that live, this one among them.
func (s situation) share(loads map[string]int) int {
	living := len(loads)
	for owner := range loads {
		if s.letOneExpire(owner) {
			living--
		}
	}
	return (len(s.leases) + living - 1) / living
}

func (s situation) letOneExpire(owner string) bool {
	return owner != s.me && slices.ContainsFunc(s.leases, func(lease sightedLease) bool {
		return lease.Owner == owner && s.isFree(lease)
	})
}

// steal chooses a lease of those who have most, where that is two more than we have; none that they took from us just now.
func (s situation) steal(loads map[string]int) []store.Lease {
	most := 0
	for _, load := range loads {
		most = max(most, load)
	}
	if most < loads[s.me]+2 {
		return nil
	}
	var theirs []store.Lease
	for _, lease := range s.leases {
		if loads[lease.Owner] == most && !s.held[lease.ID] {
			theirs = append(theirs, lease.Lease)
		}
	}
	return s.preferred(theirs)[:min(1, len(theirs))]
}

// preferred puts leases into an order that is another for each projector, so that few reach for the same lease at the
// same time.
func (s situation) preferred(leases []store.Lease) []store.Lease {
	rank := func(lease store.Lease) []byte {
		sum := sha256.Sum256([]byte(s.me + "\x00" + lease.ID))
		return sum[:]
	}
	slices.SortFunc(leases, func(a, b store.Lease) int { return bytes.Compare(rank(a), rank(b)) })
	return leases
}

// nextExpiry is when the next lease of somebody else expires, if it stays as it is; at most the given time.
func (s situation) nextExpiry(most time.Duration) time.Duration {
	for _, lease := range s.leases {
		if lease.Owner != s.me && !s.isFree(lease) {
			most = min(most, s.expire-lease.unchanged)
		}
	}
	return most
}
