package follow_test

import (
	"testing"

	"cosmosblog/store/follow"
)

func TestNarrowContinuation(t *testing.T) {
	const before, after = `{"version":1,"resourceId":"r","continuation":[`, `]}`
	tests := []struct {
		name, text string
		part       follow.FeedRange
		want       string // parts of the continuation; empty means an error
	}{
		{"whole range", `{"minInclusive":"","maxExclusive":"FF","continuationToken":"\"5\""}`, follow.FeedRange{"", "FF"},
			`{"minInclusive":"","maxExclusive":"FF","continuationToken":"\"5\""}`},
		{"half of a range", `{"minInclusive":"","maxExclusive":"FF","continuationToken":"\"5\""}`, follow.FeedRange{"", "1F"},
			`{"minInclusive":"","maxExclusive":"1F","continuationToken":"\"5\""}`},
		{"half with a position of its own", `{"minInclusive":"1F","maxExclusive":"FF","continuationToken":"\"6\""},{"minInclusive":"","maxExclusive":"1F"}`,
			follow.FeedRange{"1F", "FF"}, `{"minInclusive":"1F","maxExclusive":"FF","continuationToken":"\"6\""}`},
		{"half without a position", `{"minInclusive":"1F","maxExclusive":"FF","continuationToken":"\"6\""},{"minInclusive":"","maxExclusive":"1F"}`,
			follow.FeedRange{"", "1F"}, `{"minInclusive":"","maxExclusive":"1F"}`},
		{"across two parts", `{"minInclusive":"1F","maxExclusive":"FF","continuationToken":"6"},{"minInclusive":"","maxExclusive":"1F","continuationToken":"5"}`,
			follow.FeedRange{"10", "20"}, `{"minInclusive":"10","maxExclusive":"1F","continuationToken":"5"},{"minInclusive":"1F","maxExclusive":"20","continuationToken":"6"}`},
		{"longer spelling of a boundary", `{"minInclusive":"1F0000","maxExclusive":"FF","continuationToken":"6"}`, follow.FeedRange{"1F", "FF"},
			`{"minInclusive":"1F","maxExclusive":"FF","continuationToken":"6"}`},
		{"beginning missing", `{"minInclusive":"1F","maxExclusive":"FF","continuationToken":"6"}`, follow.FeedRange{"10", "FF"}, ""},
		{"middle missing", `{"minInclusive":"","maxExclusive":"10","continuationToken":"6"},{"minInclusive":"1F","maxExclusive":"FF"}`, follow.FeedRange{"", "FF"}, ""},
		{"end missing", `{"minInclusive":"","maxExclusive":"1F","continuationToken":"6"}`, follow.FeedRange{"10", "FF"}, ""},
		{"everything missing", `{"minInclusive":"","maxExclusive":"1F","continuationToken":"6"}`, follow.FeedRange{"1F", "FF"}, ""},
		{"malformed", `,`, follow.FeedRange{"", "FF"}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			want := ""
			if test.want != "" {
				want = before + test.want + after
			}
			got, err := follow.NarrowContinuation(before+test.text+after, test.part)
			if got != want || (err == nil) != (want != "") {
				t.Errorf("got %s, error %v, want %s", got, err, want)
			}
		})
	}
	if got, err := follow.NarrowContinuation("", follow.FeedRange{"", "1F"}); got != "" || err != nil {
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
		got, ok, err := follow.MergeContinuations(c.texts, follow.FeedRange{Min: "", Max: "FF"})
		if got != c.want || ok != c.ok || (err != nil) != (c.name == "malformed") {
			t.Errorf("%s: %q, %t, %v", c.name, got, ok, err)
		}
	}
}
