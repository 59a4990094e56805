package changefeed_test

import (
	"slices"
	"testing"

	"cosmosblog/store/changefeed"
	"cosmosblog/store/schema"
)

func TestNarrowContinuation(t *testing.T) {
	const before, after = `{"version":1,"resourceId":"r","continuation":[`, `]}`
	tests := []struct {
		name, text string
		part       changefeed.FeedRange
		want       string // parts of the continuation; empty means an error
	}{
		{"whole range", `{"minInclusive":"","maxExclusive":"FF","continuationToken":"\"5\""}`, changefeed.FeedRange{"", "FF"},
			`{"minInclusive":"","maxExclusive":"FF","continuationToken":"\"5\""}`},
		{"half of a range", `{"minInclusive":"","maxExclusive":"FF","continuationToken":"\"5\""}`, changefeed.FeedRange{"", "1F"},
			`{"minInclusive":"","maxExclusive":"1F","continuationToken":"\"5\""}`},
		{"half with a position of its own", `{"minInclusive":"1F","maxExclusive":"FF","continuationToken":"\"6\""},{"minInclusive":"","maxExclusive":"1F"}`,
			changefeed.FeedRange{"1F", "FF"}, `{"minInclusive":"1F","maxExclusive":"FF","continuationToken":"\"6\""}`},
		{"half without a position", `{"minInclusive":"1F","maxExclusive":"FF","continuationToken":"\"6\""},{"minInclusive":"","maxExclusive":"1F"}`,
			changefeed.FeedRange{"", "1F"}, `{"minInclusive":"","maxExclusive":"1F"}`},
		{"across two parts", `{"minInclusive":"1F","maxExclusive":"FF","continuationToken":"6"},{"minInclusive":"","maxExclusive":"1F","continuationToken":"5"}`,
			changefeed.FeedRange{"10", "20"}, `{"minInclusive":"10","maxExclusive":"1F","continuationToken":"5"},{"minInclusive":"1F","maxExclusive":"20","continuationToken":"6"}`},
		{"longer spelling of a boundary", `{"minInclusive":"1F0000","maxExclusive":"FF","continuationToken":"6"}`, changefeed.FeedRange{"1F", "FF"},
			`{"minInclusive":"1F","maxExclusive":"FF","continuationToken":"6"}`},
		{"beginning missing", `{"minInclusive":"1F","maxExclusive":"FF","continuationToken":"6"}`, changefeed.FeedRange{"10", "FF"}, ""},
		{"middle missing", `{"minInclusive":"","maxExclusive":"10","continuationToken":"6"},{"minInclusive":"1F","maxExclusive":"FF"}`, changefeed.FeedRange{"", "FF"}, ""},
		{"end missing", `{"minInclusive":"","maxExclusive":"1F","continuationToken":"6"}`, changefeed.FeedRange{"10", "FF"}, ""},
		{"everything missing", `{"minInclusive":"","maxExclusive":"1F","continuationToken":"6"}`, changefeed.FeedRange{"1F", "FF"}, ""},
		{"malformed", `,`, changefeed.FeedRange{"", "FF"}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			want := ""
			if test.want != "" {
				want = before + test.want + after
			}
			got, err := changefeed.NarrowContinuation(before+test.text+after, test.part)
			if got != want || (err == nil) != (want != "") {
				t.Errorf("got %s, error %v, want %s", got, err, want)
			}
		})
	}
	if got, err := changefeed.NarrowContinuation("", changefeed.FeedRange{"", "1F"}); got != "" || err != nil {
		t.Errorf("empty continuation: got %q, error %v", got, err)
	}
}

// TestMergeContinuations checks that a merged range begins at the earliest position.
func TestMergeContinuations(t *testing.T) {
	at := func(token string) string {
		return `{"version":1,"resourceId":"r","continuation":[{"minInclusive":"","maxExclusive":"1F","continuationToken":` + token + `}]}`
	}
	const merged = `{"version":1,"resourceId":"r","continuation":[{"minInclusive":"","maxExclusive":"FF","continuationToken":"\"9\""}]}`
	for _, c := range []struct {
		name  string
		texts []string
		want  string
		ok    bool
	}{
		{"the earlier number", []string{at(`"\"10\""`), at(`"\"9\""`)}, merged, true},
		{"the beginning", []string{"", at(`"\"9\""`)}, "", true},
		{"positions of another form", []string{at(`"\"x\""`), at(`"\"9\""`)}, "", true},
		{"no position yet", []string{at(`"*"`), at(`"\"9\""`)}, "", false},
		{"malformed", []string{"?", at(`"\"9\""`)}, "", false},
	} {
		got, ok, err := changefeed.MergeContinuations(c.texts, changefeed.FeedRange{Min: "", Max: "FF"})
		if got != c.want || ok != c.ok || (err != nil) != (c.name == "malformed") {
			t.Errorf("%s: %q, %t, %v", c.name, got, ok, err)
		}
	}
}

// TestNarrowedContinuationResumes checks that the parts of a continuation return the same
// changes as the whole continuation.
func TestNarrowedContinuationResumes(t *testing.T) {
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
		w.OK(err) // the engine returns the changes of the whole range for a part of it
		if !slices.EqualFunc(page.Changes, whole, func(a, b changefeed.Change) bool { return a.ID == b.ID }) {
			t.Errorf("%d changes from %q on, want %d", len(page.Changes), r.Min, len(whole))
		}
	}
}
