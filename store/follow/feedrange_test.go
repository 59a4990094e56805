package follow_test

import (
	"testing"

	"cosmosblog/store/follow"
)

func TestFeedRangesOverlap(t *testing.T) {
	r := func(min, max string) follow.FeedRange { return follow.FeedRange{min, max} }
	for _, test := range []struct {
		a, b follow.FeedRange
		want bool
	}{
		{r("", "FF"), r("1F", "2F"), true},
		{r("", "1F"), r("1F", "FF"), false},
		{r("", "1F000000"), r("1F", "FF"), false},
		{r("", "1F0000A0"), r("1F", "FF"), true},
		{r("1F", "2F"), r("2E", "FF"), true},
	} {
		if test.a.Overlaps(test.b) != test.want || test.b.Overlaps(test.a) != test.want {
			t.Errorf("%v and %v overlap: want %t", test.a, test.b, test.want)
		}
	}
}

func TestFeedRangesIntersect(t *testing.T) {
	r := func(min, max string) follow.FeedRange { return follow.FeedRange{min, max} }
	for _, test := range []struct{ a, b, want follow.FeedRange }{
		{r("", "FF"), r("1F", "2F"), r("1F", "2F")},
		{r("", "2F"), r("1F", "FF"), r("1F", "2F")},
		{r("1F", "2F"), r("1F", "2F"), r("1F", "2F")},
		{r("1F00", "2F"), r("1F", "2F00"), r("1F00", "2F")}, // equal boundaries keep the first spelling
	} {
		if got := test.a.Intersection(test.b); got != test.want {
			t.Errorf("%v and %v: %v, want %v", test.a, test.b, got, test.want)
		}
	}
}
