package projector

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cosmosblog/store"
)

var (
	whole     = store.FeedRange{Min: "", Max: "FF"}
	low, high = store.FeedRange{Min: "", Max: "1F"}, store.FeedRange{Min: "1F", Max: "FF"}
)

func leaseOf(container string, r store.FeedRange) store.Lease {
	return store.Lease{ID: "lease." + container + "." + r.Min + "-" + r.Max, Container: container, Range: r, ResourceID: "rid"}
}

func TestMissingLeases(t *testing.T) {
	lease := leaseOf
	sweeps, deletions, purges := store.Lease{ID: "lease.sweeps"}, store.Lease{ID: "lease.deletions"}, store.Lease{ID: "lease.purges"}
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
			divisions := []division{{"posts", "rid", test.ranges}}
			got := missingLeases(divisions, append(test.leases, sweeps, deletions, purges))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	if diff := cmp.Diff([]store.Lease{deletions}, missingLeases(nil, []store.Lease{sweeps, purges})); diff != "" {
		t.Error(diff)
	}
}

func TestSuccessors(t *testing.T) {
	// read gives a lease as it is after its range was read to a number, and, where there are more, those parts of it.
	read := func(r store.FeedRange, parts ...string) store.Lease {
		lease := leaseOf("posts", r)
		lease.Continuation = `{"version":1,"resourceId":"rid","continuation":[` + strings.Join(parts, ",") + `]}`
		return lease
	}
	part := func(min, max, number string) string {
		return `{"minInclusive":"` + min + `","maxExclusive":"` + max + `","continuationToken":"\"` + number + `\""}`
	}
	middle := store.FeedRange{Min: "10", Max: "30"}
	tests := []struct {
		name   string
		lease  store.Lease
		anew   bool
		ranges []store.FeedRange
		want   []store.Lease
	}{
		{name: "as it was", lease: read(whole, part("", "FF", "5")), ranges: []store.FeedRange{whole}},
		{name: "as it was, beside another", lease: read(low, part("", "1F", "5")), ranges: []store.FeedRange{low, high}},
		{name: "split before it was read", lease: leaseOf("posts", whole), ranges: []store.FeedRange{low, high},
			want: []store.Lease{leaseOf("posts", low), leaseOf("posts", high)}},
		{name: "split", lease: read(whole, part("", "FF", "5")), ranges: []store.FeedRange{low, high},
			want: []store.Lease{read(low, part("", "1F", "5")), read(high, part("1F", "FF", "5"))}},
		{name: "split, and read since", lease: read(whole, part("1F", "FF", "7"), part("", "1F", "5")), ranges: []store.FeedRange{low, high},
			want: []store.Lease{read(low, part("", "1F", "5")), read(high, part("1F", "FF", "7"))}},
		{name: "split otherwise than its continuation", lease: read(whole, part("1F", "FF", "7"), part("", "1F", "5")),
			ranges: []store.FeedRange{{Min: "", Max: "10"}, middle, {Min: "30", Max: "FF"}},
			want: []store.Lease{
				read(store.FeedRange{Min: "", Max: "10"}, part("", "10", "5")),
				read(middle, part("10", "1F", "5"), part("1F", "30", "7")),
				read(store.FeedRange{Min: "30", Max: "FF"}, part("30", "FF", "7")),
			}},
		{name: "merged, then split otherwise: the rest is another lease's", lease: read(low, part("", "1F", "5")),
			ranges: []store.FeedRange{{Min: "", Max: "10"}, {Min: "10", Max: "FF"}},
			want: []store.Lease{
				read(store.FeedRange{Min: "", Max: "10"}, part("", "10", "5")),
				read(store.FeedRange{Min: "10", Max: "1F"}, part("10", "1F", "5")),
			}},
		{name: "merged", lease: read(low, part("", "1F", "5")), ranges: []store.FeedRange{whole}},
		{name: "made anew as it was: its reader begins again", anew: true, lease: read(whole, part("", "FF", "5")), ranges: []store.FeedRange{whole}},
		{name: "made anew with more ranges", anew: true, lease: read(whole, part("", "FF", "5")), ranges: []store.FeedRange{low, high},
			want: []store.Lease{leaseOf("posts", low), leaseOf("posts", high)}},
		{name: "made anew with fewer ranges", anew: true, lease: read(low, part("", "1F", "5")), ranges: []store.FeedRange{whole},
			want: []store.Lease{leaseOf("posts", whole)}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.anew {
				test.lease.ResourceID = "earlier"
			}
			got, err := division{"posts", "rid", test.ranges}.successors(test.lease)
			if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
				t.Error(err, diff)
			}
		})
	}
	// Nothing is left out where a continuation says less than the lease is of.
	if got, err := (division{"posts", "rid", []store.FeedRange{low, high}}).successors(read(whole, part("", "10", "5"))); err == nil {
		t.Errorf("%+v", got)
	}
}
