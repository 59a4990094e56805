package changefeed_test

import (
	"errors"
	"slices"
	"testing"

	"cosmosblog/store/changefeed"
	"cosmosblog/store/schema"
)

func TestContinuationOf(t *testing.T) {
	const before, after = `{"version":1,"resourceId":"r","continuation":[`, `]}`
	tests := []struct {
		name, text string
		part       changefeed.FeedRange
		want       string // of the continuation's parts; empty for an error
	}{
		{"the whole", `{"minInclusive":"","maxExclusive":"FF","continuationToken":"\"5\""}`, changefeed.FeedRange{"", "FF"},
			`{"minInclusive":"","maxExclusive":"FF","continuationToken":"\"5\""}`},
		{"a half", `{"minInclusive":"","maxExclusive":"FF","continuationToken":"\"5\""}`, changefeed.FeedRange{"", "1F"},
			`{"minInclusive":"","maxExclusive":"1F","continuationToken":"\"5\""}`},
		{"a half that was read on its own", `{"minInclusive":"1F","maxExclusive":"FF","continuationToken":"\"6\""},{"minInclusive":"","maxExclusive":"1F"}`,
			changefeed.FeedRange{"1F", "FF"}, `{"minInclusive":"1F","maxExclusive":"FF","continuationToken":"\"6\""}`},
		{"a half that was not read", `{"minInclusive":"1F","maxExclusive":"FF","continuationToken":"\"6\""},{"minInclusive":"","maxExclusive":"1F"}`,
			changefeed.FeedRange{"", "1F"}, `{"minInclusive":"","maxExclusive":"1F"}`},
		{"across two", `{"minInclusive":"1F","maxExclusive":"FF","continuationToken":"6"},{"minInclusive":"","maxExclusive":"1F","continuationToken":"5"}`,
			changefeed.FeedRange{"10", "20"}, `{"minInclusive":"10","maxExclusive":"1F","continuationToken":"5"},{"minInclusive":"1F","maxExclusive":"20","continuationToken":"6"}`},
		{"the same boundary, written longer", `{"minInclusive":"1F0000","maxExclusive":"FF","continuationToken":"6"}`, changefeed.FeedRange{"1F", "FF"},
			`{"minInclusive":"1F","maxExclusive":"FF","continuationToken":"6"}`},
		{"without the beginning", `{"minInclusive":"1F","maxExclusive":"FF","continuationToken":"6"}`, changefeed.FeedRange{"10", "FF"}, ""},
		{"without the middle", `{"minInclusive":"","maxExclusive":"10","continuationToken":"6"},{"minInclusive":"1F","maxExclusive":"FF"}`, changefeed.FeedRange{"", "FF"}, ""},
		{"without the end", `{"minInclusive":"","maxExclusive":"1F","continuationToken":"6"}`, changefeed.FeedRange{"10", "FF"}, ""},
		{"without all", `{"minInclusive":"","maxExclusive":"1F","continuationToken":"6"}`, changefeed.FeedRange{"1F", "FF"}, ""},
		{"that cannot be read", `,`, changefeed.FeedRange{"", "FF"}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			want := ""
			if test.want != "" {
				want = before + test.want + after
			}
			got, err := changefeed.NarrowContinuation(before+test.text+after, test.part)
			if got != want || (err == nil) != (want != "") {
				t.Errorf("%s, %v, want %s", got, err, want)
			}
		})
	}
	if got, err := changefeed.NarrowContinuation("", changefeed.FeedRange{"", "1F"}); got != "" || err != nil {
		t.Errorf("nothing was read: %q, %v", got, err)
	}
}

// The parts of a continuation of azcosmos' own give the changes that the whole gives, from where it stood.
func TestPartsOfAContinuationGoOn(t *testing.T) {
	w := newWorld(t)
	anna := w.AddUser("anna")
	for range 20 {
		w.AddPost(anna)
	}
	_, read := w.changes(schema.Posts, "", 7)
	for range 20 {
		w.AddPost(anna)
	}
	whole, _ := w.changes(schema.Posts, read, 100)
	for _, r := range []changefeed.FeedRange{{"", "1F"}, {"1F", "FF"}} {
		part, err := changefeed.NarrowContinuation(read, r)
		w.OK(err)
		page, err := w.Changes(t.Context(), schema.Posts, r, part, 100)
		w.OK(err) // a part of a range is read with all of the range: nothing may be left out
		if !slices.EqualFunc(page.Changes, whole, func(a, b changefeed.Change) bool { return a.ID == b.ID }) {
			t.Errorf("%d changes from %q on, want %d", len(page.Changes), r.Min, len(whole))
		}
	}
}

func TestFeedRangesIntersect(t *testing.T) {
	r := func(min, max string) changefeed.FeedRange { return changefeed.FeedRange{min, max} }
	for _, test := range []struct{ a, b, want changefeed.FeedRange }{
		{r("", "FF"), r("1F", "2F"), r("1F", "2F")},
		{r("", "2F"), r("1F", "FF"), r("1F", "2F")},
		{r("1F", "2F"), r("1F", "2F"), r("1F", "2F")},
		{r("1F00", "2F"), r("1F", "2F00"), r("1F00", "2F")}, // what is equal stays as the first has it
	} {
		if got := test.a.Intersection(test.b); got != test.want {
			t.Errorf("%v and %v: %v, want %v", test.a, test.b, got, test.want)
		}
	}
}

func TestALeaseIsDeletedAsItWasRead(t *testing.T) {
	w := newWorld(t)
	w.OK(w.CreateLease(t.Context(), changefeed.Lease{ID: "lease.posts.-FF"}))
	read := w.lease("lease.posts.-FF")
	read.Owner = "me"
	saved, err := w.SaveLease(t.Context(), read)
	w.OK(err)
	if err := w.DeleteLease(t.Context(), read); !errors.Is(err, changefeed.ErrLeaseLost) {
		t.Errorf("an old etag: %v", err)
	}
	for range 2 { // also where it is gone
		w.OK(w.DeleteLease(t.Context(), saved))
	}
	if leases, err := w.Leases(t.Context()); err != nil || len(leases) != 0 {
		t.Errorf("%+v, %v", leases, err)
	}
}
