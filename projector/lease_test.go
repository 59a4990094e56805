package projector_test

import (
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cosmosblog/projector"
	"cosmosblog/store/changefeed"
)

// member is one of several concurrent projectors, with its own wire.
type member struct {
	*projector.Projector
	wire *wire
	stop func()
}

// members starts projectors that do not take over leases. The caller must stop them.
func (w *world) members(n int, change ...func(*projector.Options)) []*member {
	w.Helper()
	var members []*member
	for range n {
		wire, s := w.wired()
		p, stop := w.run(s, append([]func(*projector.Options){withoutTakeOver}, change...)...)
		members = append(members, &member{p, wire, sync.OnceFunc(stop)})
	}
	return members
}

// withoutTakeOver disables TakeOver and, in effect, polling.
func withoutTakeOver(o *projector.Options) { o.TakeOver, o.Poll = false, time.Hour }

// advanceTime advances the time in a bubble and waits for all work that is due, with its requests.
// The engine delays commits by up to 2 ms if many wait for the disk, which is time in a bubble too.
func advanceTime(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
	time.Sleep(requestTime)
	synctest.Wait()
}

// requestTime is longer than all delayed commits of a balance, and far below every interval.
const requestTime = 50 * time.Millisecond

// loads returns the number of leases of each owner, sorted.
func (w *world) loads() []int {
	w.Helper()
	owners := w.owners()
	counts := map[string]int{}
	for _, owner := range owners {
		counts[owner]++
	}
	return slices.Sorted(maps.Values(counts))
}

// owners returns the owner of each lease.
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

// The tests use synctest bubbles, so these durations are exact and take no real time.
const (
	renew   = 5 * time.Second
	balance = 5 * time.Second
	expire  = 20 * time.Second
)

// Projectors come to have equal numbers of leases, give or take one, and then no lease moves.
// After a projector dies, the others have all leases after one expiry and the next balance.
// After one stops, they have them at the next balance.
func TestProjectorsShareLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorldOf(t, 4) // 4 of users, 4 of posts, 3 chores
		members := w.members(3)
		dead, leaves, stays := members[0], members[1], members[2]
		even := func(when string, want ...int) {
			t.Helper()
			if shares := w.loads(); !slices.Equal(shares, want) {
				t.Errorf("%s, loads are %v, want %v", when, shares, want)
			}
			owners := w.owners()
			advanceTime(20 * balance)
			if later := w.owners(); !maps.Equal(owners, later) {
				t.Errorf("%s, leases still moved: %v, then %v", when, owners, later)
			}
		}
		advanceTime(10 * balance)
		even("after the start", 3, 4, 4)

		dead.wire.left.Store(0)
		advanceTime(expire + balance)
		w.wantHeld(11, leaves, stays)
		advanceTime(10 * balance)
		even("after a death", 5, 6)

		held := stays.Counts().LeasesHeld // 5 or 6
		leaves.stop()
		w.wantHeld(held, stays)
		advanceTime(balance)
		w.wantHeld(11, stays)
		members = append(members, w.members(3)...)
		advanceTime(10 * balance)
		even("after three joined", 2, 3, 3, 3)
		for _, m := range members {
			m.stop()
		}
	})
}

// Projectors whose leases are valid for different times do not take them from each other. After the
// death of one, the others wait as long as its own leases were valid.
func TestProjectorsWithDifferentExpirations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorldOf(t, 4)
		const long = time.Minute
		patient := w.members(1, func(o *projector.Options) { o.Renew, o.Expire = long/3, long })[0]
		defer patient.stop()
		hasty := w.members(1, func(o *projector.Options) { o.Renew, o.Expire, o.Balance = time.Second, 3*time.Second, time.Second })[0]
		defer hasty.stop()
		advanceTime(10 * balance)
		owners := w.owners()
		advanceTime(10 * long)
		if later := w.owners(); !maps.Equal(owners, later) {
			t.Errorf("leases moved: %v, then %v", owners, later)
		}
		for _, m := range []*member{patient, hasty} {
			if n := m.Counts().LeasesLost; n > int64(len(owners)) { // those that moved at the beginning
				t.Errorf("%d leases were lost", n)
			}
		}
		patient.wire.left.Store(0)
		advanceTime(long / 2)
		if later := w.owners(); !maps.Equal(owners, later) {
			t.Errorf("the leases were taken while their holder might work on them: %v, then %v", owners, later)
		}
		advanceTime(long)
		w.wantHeld(11, hasty)
	})
}

// wantHeld checks how many of all leases the projectors work on.
func (w *world) wantHeld(want int, members ...*member) {
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
		w.Errorf("the projectors have %d feeds and %d chores, want %d in total", feeds, chores, want)
	}
}

// The lease of a chore of another version is not taken.
func TestUnknownLeaseIsNotTaken(t *testing.T) {
	w := newWorld(t)
	if err := w.store.CreateLease(t.Context(), changefeed.Lease{ID: "lease.unknown"}); err != nil {
		t.Fatal(err)
	}
	before := w.leasesOf("")[0]
	w.settle()
	if leases := w.leasesOf(""); !slices.Contains(leases, before) || len(leases) != 4 {
		t.Errorf("leases are %+v, want %+v unchanged", leases, before)
	}
}
