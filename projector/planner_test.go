package projector

import (
	"slices"
	"testing"
	"time"

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
		want      string // acquire, renew, drop or nothing
	}{
		{name: "nobody's", owner: "", want: "acquire"},
		{name: "nobody's, seen for long", owner: "", unchanged: time.Hour, want: "acquire"},
		{name: "another's", owner: "other", unchanged: expire - 1, want: ""},
		{name: "another's, and expired", owner: "other", unchanged: expire, want: "acquire"},
		{name: "another's, who is known to be gone", owner: "other", takeOver: true, want: "acquire"},
		{name: "ours", owner: "me", held: true, want: "renew"},
		{name: "ours, though nobody works on it", owner: "me", want: "acquire"},
		{name: "ours, and not renewed for long", owner: "me", unchanged: time.Hour, held: true, want: "renew"},
		{name: "was ours", owner: "other", held: true, want: "drop"},
		{name: "was ours, while taking over", owner: "other", held: true, takeOver: true, want: "drop"},
		{name: "was ours, and given up by somebody", owner: "", held: true, want: "drop"},
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
	switch {
	case slices.ContainsFunc(p.acquire, func(l store.Lease) bool { return l.ID == id }):
		return "acquire"
	case slices.Contains(p.renew, id):
		return "renew"
	case slices.Contains(p.drop, id):
		return "drop"
	}
	return ""
}

func TestPlanDropsALeaseThatIsGone(t *testing.T) {
	p := planLeases(situation{me: "me", held: map[string]bool{"gone": true}})
	if diff := cmp.Diff(plan{drop: []string{"gone"}}, p, cmp.AllowUnexported(plan{})); diff != "" {
		t.Error(diff)
	}
}

// Whatever the situation, a lease of a living owner is left alone, what is free is taken, and no lease is planned twice.
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
		planned := append(slices.Clone(p.renew), p.drop...)
		for _, lease := range p.acquire {
			planned = append(planned, lease.ID)
		}
		slices.Sort(planned)
		if len(slices.Compact(slices.Clone(planned))) != len(planned) {
			t.Fatalf("planned twice: %v", planned)
		}
		for _, lease := range s.leases {
			got, ours := verdict(p, lease.ID), lease.Owner == s.me
			switch free := lease.Owner == "" || ours || lease.unchanged >= s.expire || s.takeOver; {
			case s.held[lease.ID] && got != map[bool]string{true: "renew", false: "drop"}[ours]:
				t.Fatalf("held %+v: %q", lease, got)
			case !s.held[lease.ID] && free != (got == "acquire"):
				t.Fatalf("not held %+v: %q", lease, got)
			}
		}
	})
}

func TestMissingLeases(t *testing.T) {
	whole := store.FeedRange{Min: "", Max: "FF"}
	low, high := store.FeedRange{Min: "", Max: "1F"}, store.FeedRange{Min: "1F", Max: "FF"}
	lease := func(container string, r store.FeedRange) store.Lease {
		return store.Lease{ID: "lease." + container + "." + r.Min + "-" + r.Max, Container: container, Range: r, ResourceID: "rid"}
	}
	tests := []struct {
		name   string
		ranges []store.FeedRange
		leases []store.Lease
		want   []store.Lease
	}{
		{"a new container", []store.FeedRange{low, high}, nil, []store.Lease{lease("posts", low), lease("posts", high)}},
		{"all there", []store.FeedRange{low, high}, []store.Lease{lease("posts", low), lease("posts", high)}, nil},
		{"one there", []store.FeedRange{low, high}, []store.Lease{lease("posts", high)}, []store.Lease{lease("posts", low)}},
		{"a split", []store.FeedRange{low, high}, []store.Lease{lease("posts", whole)}, nil},
		{"a merge", []store.FeedRange{whole}, []store.Lease{lease("posts", low), lease("posts", high)}, nil},
		{"another container's", []store.FeedRange{whole}, []store.Lease{lease("users", whole)}, []store.Lease{lease("posts", whole)}},
		{"the same boundary, written longer", []store.FeedRange{high},
			[]store.Lease{lease("posts", store.FeedRange{Min: "", Max: "1F000000"})}, []store.Lease{lease("posts", high)}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := missingLeases("posts", "rid", test.ranges, test.leases)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
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
