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

	"cosmosblog/store"
)

func TestPlanLeases(t *testing.T) {
	const expire = 20 * time.Second
	tests := []struct {
		name      string
		owner     string
		unchanged time.Duration
		held      bool
		takeOver  bool
		want      string // mine, free, or neither
	}{
		{name: "nobody's", owner: "", want: "free"},
		{name: "nobody's, seen for long", owner: "", unchanged: time.Hour, want: "free"},
		{name: "another's", owner: "other", unchanged: expire - 1, want: ""},
		{name: "another's, and expired", owner: "other", unchanged: expire, want: "free"},
		{name: "another's, who is known to be gone", owner: "other", takeOver: true, want: "free"},
		{name: "ours", owner: "me", held: true, want: ""},
		{name: "ours, though nobody works on it", owner: "me", want: "mine"},
		{name: "ours, though nobody works on it, for long", owner: "me", unchanged: time.Hour, want: "mine"},
		{name: "ours, and not renewed for long", owner: "me", unchanged: time.Hour, held: true, want: ""},
		{name: "was ours", owner: "other", held: true, want: ""},
		{name: "was ours, while taking over", owner: "other", held: true, takeOver: true, want: ""},
		{name: "was ours, and given up by somebody", owner: "", held: true, want: ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := situation{me: "me", takeOver: test.takeOver, expire: expire, held: map[string]bool{},
				leases: []sightedLease{{store.Lease{ID: "l", Owner: test.owner}, test.unchanged}}}
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
	isIt := func(lease store.Lease) bool { return lease.ID == id }
	switch {
	case slices.ContainsFunc(p.mine, isIt):
		return "mine"
	case slices.ContainsFunc(p.free, isIt):
		return "free"
	case slices.ContainsFunc(p.steal, isIt):
		return "steal"
	}
	return ""
}

// crowd makes the situation of "me" among leases whose owners are given, one letter each: "." is nobody, "m" is me, and
// a capital letter is the owner of the same small letter who let this lease expire.
func crowd(owners string) situation {
	s := situation{me: "m", expire: 20, held: map[string]bool{}}
	for i, owner := range owners {
		lease := sightedLease{Lease: store.Lease{ID: fmt.Sprint(i), Owner: strings.ToLower(string(owner))}}
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

func TestLeasesAreTakenUpToAFairShare(t *testing.T) {
	tests := []struct {
		name, owners string
		take         int
		stealFrom    string
	}{
		{name: "alone", owners: "....", take: 4},
		{name: "with one more", owners: "aa..", take: 2},
		{name: "with one more, an odd number", owners: "aa...", take: 3},
		{name: "when the share is reached", owners: "mmaa", take: 0},
		{name: "of what one left who died", owners: "mmBBBaa", take: 2},
		{name: "of what one left of whom the last lease is about to expire", owners: "mmaaBBb", take: 2},
		{name: "when those who died are all", owners: "AABB", take: 4},
		{name: "nothing is left", owners: "aaaa", stealFrom: "a"},
		{name: "nothing is left, and somebody has more", owners: "aabbbb", stealFrom: "b"},
		{name: "one more is no reason to steal", owners: "maa"},
		{name: "two more are", owners: "maaa", stealFrom: "a"},
		{name: "who has the share does not steal", owners: "mmmmaaaaaabbbbccdd"},
		{name: "as long as something is free, nothing is stolen", owners: "aaaaaa.", take: 1},
		{name: "more projectors than leases", owners: "abcd"},
		{name: "no leases at all", owners: ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := planLeases(crowd(test.owners))
			from := ""
			for _, lease := range p.steal {
				from += lease.Owner
			}
			if p.take != test.take || from != test.stealFrom {
				t.Errorf("takes %d and steals from %q, want %d and %q", p.take, from, test.take, test.stealFrom)
			}
		})
	}
}

func TestWhoIsThereForAShortTimeStealsNothing(t *testing.T) {
	for owners, take := range map[string]int{"aaaa": 0, "aaa.": 1, "AAaa": 2} {
		s := crowd(owners)
		s.temporary = true
		if p := planLeases(s); p.take != take || len(p.steal) > 0 {
			t.Errorf("%s: takes %d, steals %v", owners, p.take, p.steal)
		}
	}
}

// Thieves who see the same do not all reach for the same lease.
func TestThievesSpread(t *testing.T) {
	stolen := map[string]int{}
	for i := range 100 {
		s := crowd("aaaabbbb")
		s.me = fmt.Sprintf("host-%d", i)
		stolen[planLeases(s).steal[0].ID]++
	}
	for id, n := range stolen {
		if n > 30 {
			t.Errorf("%d of 100 steal %s", n, id)
		}
	}
	if len(stolen) != 8 {
		t.Errorf("stolen are %v", stolen)
	}
}

// The leases are looked at again when the next one expires.
func TestNextExpiry(t *testing.T) {
	s := crowd("aBm.")
	for _, test := range []struct{ unchanged, want time.Duration }{{0, 5}, {14, 5}, {16, 4}, {19, 1}, {20, 5}} {
		s.leases[0].unchanged = test.unchanged
		if got := s.nextExpiry(5); got != test.want {
			t.Errorf("unchanged for %d: %d, want %d", test.unchanged, got, test.want)
		}
	}
}

// Whatever the situation, a lease of a living owner is left alone but for one, what is free is known, and no lease is
// planned twice.
func TestPlanLeasesProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := situation{me: "a", takeOver: rapid.Bool().Draw(t, "takeOver"), expire: 20, held: map[string]bool{}}
		for _, id := range rapid.SliceOfDistinct(rapid.StringMatching(`[a-f]`), rapid.ID).Draw(t, "ids") {
			s.leases = append(s.leases, sightedLease{
				store.Lease{ID: id, Owner: rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "owner")},
				time.Duration(rapid.IntRange(0, 40).Draw(t, "unchanged")),
			})
			if rapid.Bool().Draw(t, "held") {
				s.held[id] = true
			}
		}
		p := planLeases(s)
		var planned []string
		for _, lease := range slices.Concat(p.mine, p.free, p.steal) {
			planned = append(planned, lease.ID)
		}
		slices.Sort(planned)
		if len(slices.Compact(slices.Clone(planned))) != len(planned) {
			t.Fatalf("planned twice: %v", planned)
		}
		if len(p.steal) > 1 || p.take < 0 || p.take > len(p.free) || len(p.steal) > 0 && len(p.free) > 0 {
			t.Fatalf("%+v", p)
		}
		for _, lease := range s.leases {
			want := ""
			switch {
			case s.held[lease.ID]:
			case lease.Owner == s.me:
				want = "mine"
			case lease.Owner == "" || lease.unchanged >= s.expire || s.takeOver:
				want = "free"
			}
			if got := verdict(p, lease.ID); got != want && (got != "steal" || want != "" || s.held[lease.ID]) {
				t.Fatalf("%+v: %q, want %q", lease, got, want)
			}
		}
	})
}

func TestSightings(t *testing.T) {
	s, start := make(sightings), time.Now()
	steps := []struct {
		etag  string
		after time.Duration
		want  time.Duration
	}{
		{"1", 0, 0}, {"1", 5, 5}, {"1", 9, 9}, {"2", 10, 0}, {"2", 12, 2}, {"1", 13, 0},
	}
	for i, step := range steps {
		if got := s.unchanged("l", step.etag, start.Add(step.after)); got != step.want {
			t.Errorf("step %d: %d, want %d", i, got, step.want)
		}
	}
	s.keepOnly(nil)
	if got := s.unchanged("l", "1", start.Add(20)); got != 0 {
		t.Errorf("forgotten: %d", got)
	}
}

func TestLatestKeepsTheLastChangeOfAnItem(t *testing.T) {
	change := func(id string, expires bool) store.Change {
		return store.Change{PartitionKey: "p", ID: id, Expires: expires}
	}
	got := latest([]store.Change{change("a", false), change("b", false), change("", false), change("a", true), change("", false)})
	want := []store.Change{change("b", false), change("", false), change("a", true), change("", false)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
