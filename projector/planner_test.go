package projector

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"cosmosblog/proof/testseed"
	"cosmosblog/store/changefeed"
)

func TestPlanLeases(t *testing.T) {
	const expire = 20 * time.Second
	tests := []struct {
		name      string
		owner     string
		unchanged time.Duration
		held      bool
		takeOver  bool
		want      string // reclaim, free, or neither
	}{
		{name: "unowned", owner: "", want: "free"},
		{name: "unowned, observed for long", owner: "", unchanged: time.Hour, want: "free"},
		{name: "owned by another", owner: "other", unchanged: expire - 1, want: ""},
		{name: "owned by another, expired", owner: "other", unchanged: expire, want: "free"},
		{name: "owned by another, while taking over", owner: "other", takeOver: true, want: "free"},
		{name: "ours, held", owner: "me", held: true, want: ""},
		{name: "ours, but not held", owner: "me", want: "reclaim"},
		{name: "ours, but not held, for long", owner: "me", unchanged: time.Hour, want: "reclaim"},
		{name: "ours, not renewed for long", owner: "me", unchanged: time.Hour, held: true, want: ""},
		{name: "taken from us", owner: "other", held: true, want: ""},
		{name: "taken from us, while taking over", owner: "other", held: true, takeOver: true, want: ""},
		{name: "taken from us, then released", owner: "", held: true, want: ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := snapshot{self: "me", takeOver: test.takeOver, expire: expire, held: map[string]bool{},
				leases: []observedLease{{changefeed.Lease{ID: "l", Owner: test.owner}, test.unchanged, 0}}}
			if test.held {
				s.held["l"] = true
			}
			if got := verdict(planLeases(s), "l"); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func verdict(p plan, id string) string {
	matches := func(lease changefeed.Lease) bool { return lease.ID == id }
	switch {
	case slices.ContainsFunc(p.reclaim, matches):
		return "reclaim"
	case slices.ContainsFunc(p.free, matches):
		return "free"
	case slices.ContainsFunc(p.steal, matches):
		return "steal"
	}
	return ""
}

// snapshotOf returns the snapshot of "m" among leases with the given owners, one letter each.
// A dot is no owner. An upper-case letter is the same owner as the lower-case one, who let this
// lease expire.
func snapshotOf(owners string) snapshot {
	s := snapshot{self: "m", expire: 20, held: map[string]bool{}}
	for i, owner := range owners {
		lease := observedLease{Lease: changefeed.Lease{ID: fmt.Sprint(i), Owner: strings.ToLower(string(owner))}}
		switch {
		case owner == '.':
			lease.Owner = ""
		case owner == 'm':
			s.held[lease.ID] = true
		case unicode.IsUpper(owner):
			lease.unchanged = s.expire
		}
		s.leases = append(s.leases, lease)
	}
	return s
}

func TestFairShare(t *testing.T) {
	tests := []struct {
		name, owners string
		take         int
		stealFrom    string
	}{
		{name: "alone", owners: "....", take: 4},
		{name: "two projectors", owners: "aa..", take: 2},
		{name: "two projectors, odd number of leases", owners: "aa...", take: 3},
		{name: "share is reached", owners: "mmaa", take: 0},
		{name: "leases of a dead owner", owners: "mmBBBaa", take: 2},
		{name: "leases of a dead owner whose last one has not expired", owners: "mmaaBBb", take: 2},
		{name: "all other owners are dead", owners: "AABB", take: 4},
		{name: "none free, no lease of ours", owners: "aaaa", stealFrom: "a"},
		{name: "none free, steal from the highest load", owners: "aabbbb", stealFrom: "b"},
		{name: "no stealing at a difference of one", owners: "maa"},
		{name: "stealing at a difference of two", owners: "maaa", stealFrom: "a"},
		{name: "no stealing above the share", owners: "mmmmaaaaaabbbbccdd"},
		{name: "no stealing while a lease is free", owners: "aaaaaa.", take: 1},
		{name: "more projectors than leases", owners: "abcd"},
		{name: "no leases at all", owners: ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := planLeases(snapshotOf(test.owners))
			from := ""
			for _, lease := range p.steal {
				from += lease.Owner
			}
			if p.takeFree != test.take || from != test.stealFrom {
				t.Errorf("takes %d and steals from %q, want %d and %q", p.takeFree, from, test.take, test.stealFrom)
			}
		})
	}
}

// A temporary projector takes free leases and steals none.
func TestTemporaryProjectorStealsNothing(t *testing.T) {
	for owners, take := range map[string]int{"aaaa": 0, "aaa.": 1, "AAaa": 2} {
		s := snapshotOf(owners)
		s.temporary = true
		if p := planLeases(s); p.takeFree != take || len(p.steal) > 0 {
			t.Errorf("%s: takes %d, steals %v", owners, p.takeFree, p.steal)
		}
	}
}

// Projectors with the same observations do not all steal the same lease.
func TestStolenLeasesDiffer(t *testing.T) {
	stolen := map[string]int{}
	for i := range 100 {
		s := snapshotOf("aaaabbbb")
		s.self = fmt.Sprintf("host-%d", i)
		stolen[planLeases(s).steal[0].ID]++
	}
	for id, n := range stolen {
		if n > 30 {
			t.Errorf("%d of 100 projectors steal %s", n, id)
		}
	}
	if len(stolen) != 8 {
		t.Errorf("stolen leases: %v", stolen)
	}
}

// The next balance is due when the next lease expires.
func TestNextExpiry(t *testing.T) {
	s := snapshotOf("aBm.")
	for _, test := range []struct{ unchanged, want time.Duration }{{0, 5}, {14, 5}, {16, 4}, {19, 1}, {20, 5}} {
		s.leases[0].unchanged = test.unchanged
		if got := s.nextExpiry(5); got != test.want {
			t.Errorf("unchanged for %d: %d, want %d", test.unchanged, got, test.want)
		}
	}
}

// For any snapshot, at most one lease of an active owner is stolen, all free leases are listed,
// and no lease is listed twice.
func TestPlanLeasesProperties(t *testing.T) {
	testseed.Check(t, func(t *rapid.T) {
		s := snapshot{self: "a", takeOver: rapid.Bool().Draw(t, "takeOver"), expire: 20, held: map[string]bool{}}
		for _, id := range rapid.SliceOfDistinct(rapid.StringMatching(`[a-f]`), rapid.ID).Draw(t, "ids") {
			s.leases = append(s.leases, observedLease{
				changefeed.Lease{ID: id, Owner: rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "owner")},
				time.Duration(rapid.IntRange(0, 40).Draw(t, "unchanged")),
				time.Duration(rapid.IntRange(0, 2).Draw(t, "expire") * 10),
			})
			if rapid.Bool().Draw(t, "held") {
				s.held[id] = true
			}
		}
		p := planLeases(s)
		var planned []string
		for _, lease := range slices.Concat(p.reclaim, p.free, p.steal) {
			planned = append(planned, lease.ID)
		}
		slices.Sort(planned)
		if len(slices.Compact(slices.Clone(planned))) != len(planned) {
			t.Fatalf("planned twice: %v", planned)
		}
		if len(p.steal) > 1 || p.takeFree < 0 || p.takeFree > len(p.free) || len(p.steal) > 0 && len(p.free) > 0 {
			t.Fatalf("%+v", p)
		}
		for _, lease := range s.leases {
			want, expire := "", lease.expire
			if expire == 0 {
				expire = s.expire
			}
			switch {
			case s.held[lease.ID]:
			case lease.Owner == s.self:
				want = "reclaim"
			case lease.Owner == "" || lease.unchanged >= expire || s.takeOver:
				want = "free"
			}
			if got := verdict(p, lease.ID); got != want && (got != "steal" || want != "" || s.held[lease.ID]) {
				t.Fatalf("%+v: %q, want %q", lease, got, want)
			}
		}
	})
}

// Observations measure the time since the etag last changed.
func TestObservations(t *testing.T) {
	s, start := make(observations), time.Now()
	steps := []struct {
		etag  string
		after time.Duration
		want  time.Duration
	}{
		{"1", 0, 0}, {"1", 5, 5}, {"1", 9, 9}, {"2", 10, 0}, {"2", 12, 2}, {"1", 13, 0},
	}
	for i, step := range steps {
		if got := s.unchangedFor("l", step.etag, start.Add(step.after)); got != step.want {
			t.Errorf("step %d: %d, want %d", i, got, step.want)
		}
	}
	s.retain(nil)
	if got := s.unchangedFor("l", "1", start.Add(20)); got != 0 {
		t.Errorf("forgotten: %d", got)
	}
}

func TestLatest(t *testing.T) {
	change := func(id string, expires bool) changefeed.Change {
		return changefeed.Change{PartitionKey: "p", ID: id, Expires: expires}
	}
	got := latest([]changefeed.Change{change("a", false), change("b", false), change("", false), change("a", true), change("", false)})
	want := []changefeed.Change{change("b", false), change("", false), change("a", true), change("", false)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
