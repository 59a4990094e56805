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
		{"new container", []store.FeedRange{low, high}, nil, []store.Lease{lease("posts", low), lease("posts", high)}},
		{"all leases exist", []store.FeedRange{low, high}, []store.Lease{lease("posts", low), lease("posts", high)}, nil},
		{"one lease exists", []store.FeedRange{low, high}, []store.Lease{lease("posts", high)}, []store.Lease{lease("posts", low)}},
		{"split", []store.FeedRange{low, high}, []store.Lease{lease("posts", whole)}, nil},
		{"merge", []store.FeedRange{whole}, []store.Lease{lease("posts", low), lease("posts", high)}, nil},
		{"lease of another container", []store.FeedRange{whole}, []store.Lease{lease("users", whole)}, []store.Lease{lease("posts", whole)}},
		{"the same boundary, written longer", []store.FeedRange{high},
			[]store.Lease{lease("posts", store.FeedRange{Min: "", Max: "1F000000"})}, []store.Lease{lease("posts", high)}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			ranges := []containerRanges{{"posts", "rid", test.ranges}}
			got := missingLeases(ranges, append(test.leases, sweeps, deletions, purges))
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
	// read returns the lease of a range whose parts were read up to given numbers.
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
		name      string
		lease     store.Lease
		recreated bool
		ranges    []store.FeedRange
		want      []store.Lease
	}{
		{name: "unchanged", lease: read(whole, part("", "FF", "5")), ranges: []store.FeedRange{whole}},
		{name: "unchanged, one of two", lease: read(low, part("", "1F", "5")), ranges: []store.FeedRange{low, high}},
		{name: "split before it was read", lease: leaseOf("posts", whole), ranges: []store.FeedRange{low, high},
			want: []store.Lease{leaseOf("posts", low), leaseOf("posts", high)}},
		{name: "split", lease: read(whole, part("", "FF", "5")), ranges: []store.FeedRange{low, high},
			want: []store.Lease{read(low, part("", "1F", "5")), read(high, part("1F", "FF", "5"))}},
		{name: "split, and partly read since", lease: read(whole, part("1F", "FF", "7"), part("", "1F", "5")), ranges: []store.FeedRange{low, high},
			want: []store.Lease{read(low, part("", "1F", "5")), read(high, part("1F", "FF", "7"))}},
		{name: "split at other boundaries than its continuation", lease: read(whole, part("1F", "FF", "7"), part("", "1F", "5")),
			ranges: []store.FeedRange{{Min: "", Max: "10"}, middle, {Min: "30", Max: "FF"}},
			want: []store.Lease{
				read(store.FeedRange{Min: "", Max: "10"}, part("", "10", "5")),
				read(middle, part("10", "1F", "5"), part("1F", "30", "7")),
				read(store.FeedRange{Min: "30", Max: "FF"}, part("30", "FF", "7")),
			}},
		{name: "merged, then split elsewhere: another lease covers the rest", lease: read(low, part("", "1F", "5")),
			ranges: []store.FeedRange{{Min: "", Max: "10"}, {Min: "10", Max: "FF"}},
			want: []store.Lease{
				read(store.FeedRange{Min: "", Max: "10"}, part("", "10", "5")),
				read(store.FeedRange{Min: "10", Max: "1F"}, part("10", "1F", "5")),
			}},
		{name: "merged", lease: read(low, part("", "1F", "5")), ranges: []store.FeedRange{whole}},
		{name: "recreated with the same range: its reader restarts", recreated: true, lease: read(whole, part("", "FF", "5")), ranges: []store.FeedRange{whole}},
		{name: "recreated with more ranges", recreated: true, lease: read(whole, part("", "FF", "5")), ranges: []store.FeedRange{low, high},
			want: []store.Lease{leaseOf("posts", low), leaseOf("posts", high)}},
		{name: "recreated with fewer ranges", recreated: true, lease: read(low, part("", "1F", "5")), ranges: []store.FeedRange{whole},
			want: []store.Lease{leaseOf("posts", whole)}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.recreated {
				test.lease.ResourceID = "earlier"
			}
			got, err := containerRanges{"posts", "rid", test.ranges}.successors(test.lease)
			if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
				t.Error(err, diff)
			}
		})
	}
	// A continuation that does not cover the whole range is an error.
	if got, err := (containerRanges{"posts", "rid", []store.FeedRange{low, high}}).successors(read(whole, part("", "10", "5"))); err == nil {
		t.Errorf("%+v", got)
	}
}
