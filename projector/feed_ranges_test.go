package projector

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cosmosblog/blog"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/follow"
)

var (
	whole     = follow.FeedRange{Min: "", Max: "FF"}
	low, high = follow.FeedRange{Min: "", Max: "1F"}, follow.FeedRange{Min: "1F", Max: "FF"}

	part1, part2 = follow.FeedRange{Min: "1F", Max: "30"}, follow.FeedRange{Min: "30", Max: "FF"} // of high
)

func leaseOf(container string, r follow.FeedRange) changefeed.Lease {
	return changefeed.Lease{ID: "lease." + container + "." + r.Min + "-" + r.Max, Container: container, Range: r, ResourceID: "rid"}
}

func TestMissingLeases(t *testing.T) {
	lease := leaseOf
	sweeps, deletions, purges := changefeed.Lease{ID: "lease.sweeps"}, changefeed.Lease{ID: "lease.deletions"}, changefeed.Lease{ID: "lease.purges"}
	tests := []struct {
		name   string
		ranges []follow.FeedRange
		leases []changefeed.Lease
		want   []changefeed.Lease
	}{
		{"new container", []follow.FeedRange{low, high}, nil, []changefeed.Lease{lease("posts", low), lease("posts", high)}},
		{"all leases exist", []follow.FeedRange{low, high}, []changefeed.Lease{lease("posts", low), lease("posts", high)}, nil},
		{"one lease exists", []follow.FeedRange{low, high}, []changefeed.Lease{lease("posts", high)}, []changefeed.Lease{lease("posts", low)}},
		{"split", []follow.FeedRange{low, high}, []changefeed.Lease{lease("posts", whole)}, nil},
		{"merge", []follow.FeedRange{whole}, []changefeed.Lease{lease("posts", low), lease("posts", high)}, []changefeed.Lease{lease("posts", whole)}},
		{"merge, handled", []follow.FeedRange{whole}, []changefeed.Lease{lease("posts", low), lease("posts", high), lease("posts", whole)}, nil},
		{"merge, partly handled", []follow.FeedRange{whole}, []changefeed.Lease{lease("posts", low), lease("posts", whole)}, nil},
		{"merge, with a lease that was not listed", []follow.FeedRange{whole}, []changefeed.Lease{lease("posts", high)}, nil},
		{"merge of half", []follow.FeedRange{low, high}, []changefeed.Lease{lease("posts", low), lease("posts", part1), lease("posts", part2)}, []changefeed.Lease{lease("posts", high)}},
		{"lease of another container", []follow.FeedRange{whole}, []changefeed.Lease{lease("users", whole)}, []changefeed.Lease{lease("posts", whole)}},
		{"the same boundary, written longer", []follow.FeedRange{high},
			[]changefeed.Lease{lease("posts", follow.FeedRange{Min: "", Max: "1F000000"})}, []changefeed.Lease{lease("posts", high)}},
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
	if diff := cmp.Diff([]changefeed.Lease{deletions}, missingLeases(nil, []changefeed.Lease{sweeps, purges})); diff != "" {
		t.Error(diff)
	}
}

// TestMergedLease checks where the lease of a merged range begins.
func TestMergedLease(t *testing.T) {
	part := func(r follow.FeedRange, number string, change func(*changefeed.Lease)) changefeed.Lease {
		lease := leaseOf("posts", r)
		lease.Continuation = `{"version":1,"resourceId":"rid","continuation":[{"minInclusive":"` + r.Min + `","maxExclusive":"` + r.Max +
			`","continuationToken":"\"` + number + `\""}]}`
		lease.Position, lease.AsOf, lease.Views = r.Max+":-1#"+number, blog.DateTime("2026-11-20T0"+number), "feed=0:-1#"+number
		lease.History = "h"
		if change != nil {
			change(&lease)
		}
		return lease
	}
	first := part(low, "7", nil)
	for name, c := range map[string]struct {
		change func(*changefeed.Lease) // of the other part
		want   func(*changefeed.Lease) // nil: there is no lease
	}{
		"the earlier one": {nil, func(want *changefeed.Lease) {}},
		"no position": {func(l *changefeed.Lease) { l.Position, l.AsOf = "", "" },
			func(want *changefeed.Lease) { want.Position, want.AsOf = "", "" }},
		"never read":          {func(l *changefeed.Lease) { l.Continuation = "" }, func(want *changefeed.Lease) { want.Continuation = "" }},
		"of another history":  {func(l *changefeed.Lease) { l.History = "i" }, nil},
		"of a former account": {func(l *changefeed.Lease) { l.ResourceID = "former" }, nil},
		"from the present":    {func(l *changefeed.Lease) { l.Continuation = follow.ContinuationFromNow("rid", high) }, nil},
	} {
		want := part(whole, "5", nil)
		want.Position, want.Views = "1F:-1#7,FF:-1#5", "feed=0:-1#7"
		if c.want != nil {
			c.want(&want)
		}
		got, ok := containerRanges{"posts", "rid", []follow.FeedRange{whole}}.merged(whole, []changefeed.Lease{part(high, "5", c.change), first})
		if ok != (c.want != nil) {
			t.Errorf("%s: a lease: %t", name, ok)
		}
		if diff := cmp.Diff(want, got); ok && diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestSuccessors(t *testing.T) {
	// read returns the lease of a range whose parts were read up to given numbers.
	read := func(r follow.FeedRange, parts ...string) changefeed.Lease {
		lease := leaseOf("posts", r)
		lease.Continuation = `{"version":1,"resourceId":"rid","continuation":[` + strings.Join(parts, ",") + `]}`
		return lease
	}
	part := func(min, max, number string) string {
		return `{"minInclusive":"` + min + `","maxExclusive":"` + max + `","continuationToken":"\"` + number + `\""}`
	}
	middle := follow.FeedRange{Min: "10", Max: "30"}
	tests := []struct {
		name      string
		lease     changefeed.Lease
		recreated bool
		ranges    []follow.FeedRange
		want      []changefeed.Lease
	}{
		{name: "unchanged", lease: read(whole, part("", "FF", "5")), ranges: []follow.FeedRange{whole}},
		{name: "unchanged, one of two", lease: read(low, part("", "1F", "5")), ranges: []follow.FeedRange{low, high}},
		{name: "split before it was read", lease: leaseOf("posts", whole), ranges: []follow.FeedRange{low, high},
			want: []changefeed.Lease{leaseOf("posts", low), leaseOf("posts", high)}},
		{name: "split", lease: read(whole, part("", "FF", "5")), ranges: []follow.FeedRange{low, high},
			want: []changefeed.Lease{read(low, part("", "1F", "5")), read(high, part("1F", "FF", "5"))}},
		{name: "split, and partly read since", lease: read(whole, part("1F", "FF", "7"), part("", "1F", "5")), ranges: []follow.FeedRange{low, high},
			want: []changefeed.Lease{read(low, part("", "1F", "5")), read(high, part("1F", "FF", "7"))}},
		{name: "split at other boundaries than its continuation", lease: read(whole, part("1F", "FF", "7"), part("", "1F", "5")),
			ranges: []follow.FeedRange{{Min: "", Max: "10"}, middle, {Min: "30", Max: "FF"}},
			want: []changefeed.Lease{
				read(follow.FeedRange{Min: "", Max: "10"}, part("", "10", "5")),
				read(middle, part("10", "1F", "5"), part("1F", "30", "7")),
				read(follow.FeedRange{Min: "30", Max: "FF"}, part("30", "FF", "7")),
			}},
		{name: "merged, then split elsewhere: another lease covers the rest", lease: read(low, part("", "1F", "5")),
			ranges: []follow.FeedRange{{Min: "", Max: "10"}, {Min: "10", Max: "FF"}},
			want: []changefeed.Lease{
				read(follow.FeedRange{Min: "", Max: "10"}, part("", "10", "5")),
				read(follow.FeedRange{Min: "10", Max: "1F"}, part("10", "1F", "5")),
			}},
		{name: "merged", lease: read(low, part("", "1F", "5")), ranges: []follow.FeedRange{whole}},
		{name: "recreated with the same range: its reader restarts", recreated: true, lease: read(whole, part("", "FF", "5")), ranges: []follow.FeedRange{whole}},
		{name: "recreated with more ranges", recreated: true, lease: read(whole, part("", "FF", "5")), ranges: []follow.FeedRange{low, high},
			want: []changefeed.Lease{leaseOf("posts", low), leaseOf("posts", high)}},
		{name: "recreated with fewer ranges", recreated: true, lease: read(low, part("", "1F", "5")), ranges: []follow.FeedRange{whole},
			want: []changefeed.Lease{leaseOf("posts", whole)}},
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
	if got, err := (containerRanges{"posts", "rid", []follow.FeedRange{low, high}}).successors(read(whole, part("", "10", "5"))); err == nil {
		t.Errorf("%+v", got)
	}
}
