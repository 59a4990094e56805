package projector_test

import (
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cosmosblog/projector"
	"cosmosblog/store"
)

// member is one of several projectors that run at the same time, with a wire of its own.
type member struct {
	*projector.Projector
	wire *wire
	stop func()
}

// members starts projectors that take over nothing from one another. They are to be stopped.
func (w *world) members(n int, change ...func(*projector.Options)) []*member {
	w.Helper()
	var members []*member
	for range n {
		wire, s := w.wired()
		p, stop := w.run(s, append([]func(*projector.Options){alone}, change...)...)
		members = append(members, &member{p, wire, sync.OnceFunc(stop)})
	}
	return members
}

// alone makes a projector take over nothing, and look at feeds when it is woken.
func alone(o *projector.Options) { o.TakeOver, o.Poll = false, time.Hour }

// pass lets time pass, and what is due by then be done.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// shares gives how many leases each owner has, in order.
func (w *world) shares() []int {
	w.Helper()
	owners := w.owners()
	counts := map[string]int{}
	for _, owner := range owners {
		counts[owner]++
	}
	return slices.Sorted(maps.Values(counts))
}

// owners gives the owner of each lease.
func (w *world) owners() map[string]string {
	w.Helper()
	leases, err := w.store.Leases(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	owners := map[string]string{}
	for _, lease := range leases {
		owners[lease.ID] = lease.Owner
	}
	return owners
}

// In the bubbles of these tests time passes only when everybody waits: none of them measures anything.
const (
	renew   = 5 * time.Second
	balance = 5 * time.Second
	expire  = 20 * time.Second
)

// Any number of projectors come to have as many leases each, but for one, and then none of them moves. When one dies, the
// others have all after one expiry and the next look; when one ends, at the next look.
func TestProjectorsShareTheLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorldOf(t, 4) // 4 of users, 4 of posts, 3 chores
		members := w.members(3)
		dead, leaves, stays := members[0], members[1], members[2]
		even := func(when string, want ...int) {
			t.Helper()
			if shares := w.shares(); !slices.Equal(shares, want) {
				t.Errorf("%s they share as %v, want %v", when, shares, want)
			}
			owners := w.owners()
			pass(20 * balance)
			if later := w.owners(); !maps.Equal(owners, later) {
				t.Errorf("%s leases still moved: %v, then %v", when, owners, later)
			}
		}
		pass(10 * balance)
		even("after the start", 3, 4, 4)

		dead.wire.left.Store(0)
		pass(expire + balance)
		w.livingHave(11, leaves, stays)
		pass(10 * balance)
		even("after a death", 5, 6)

		held := stays.Counts().LeasesHeld // 5 or 6
		leaves.stop()
		w.livingHave(held, stays)
		pass(balance)
		w.livingHave(11, stays)
		members = append(members, w.members(3)...)
		pass(10 * balance)
		even("after three joined", 2, 3, 3, 3)
		for _, m := range members {
			m.stop()
		}
	})
}

// livingHave checks how many of all leases projectors work on.
func (w *world) livingHave(want int, members ...*member) {
	w.Helper()
	chores := 0
	for id, owner := range w.owners() {
		if owner != "" && (id == "lease.sweeps" || id == "lease.deletions" || id == "lease.purges") {
			chores++
		}
	}
	feeds := 0
	for _, m := range members {
		feeds += len(m.Feeds())
	}
	if feeds+chores != want {
		w.Errorf("the living have %d feeds and %d chores, want %d in all", feeds, chores, want)
	}
}

// The lease of a chore of another version is left to that.
func TestALeaseThatIsUnknownIsLeftAlone(t *testing.T) {
	w := newWorld(t)
	if err := w.store.CreateLease(t.Context(), store.Lease{ID: "lease.unknown"}); err != nil {
		t.Fatal(err)
	}
	before := w.leasesOf("")[0]
	w.settle()
	if leases := w.leasesOf(""); !slices.Contains(leases, before) || len(leases) != 4 {
		t.Errorf("of %+v there came to be %+v", before, leases)
	}
}
