package projector_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"cosmosblog/projector"
	"cosmosblog/proof/testseed"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// split splits a feed range of a container, by its id in the engine.
func (w *world) split(container string, id int) {
	w.Helper()
	if err := w.engine.Split(cosmos.DefaultDatabase, container, fmt.Sprint(id)); err != nil {
		w.Fatal(err)
	}
}

// leasesOf returns the leases of a container, in the order of their ranges.
func (w *world) leasesOf(container string) []changefeed.Lease {
	w.Helper()
	leases, err := w.store.Leases(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	leases = slices.DeleteFunc(leases, func(l changefeed.Lease) bool { return l.Container != container })
	slices.SortFunc(leases, func(a, b changefeed.Lease) int { return strings.Compare(a.Range.Min, b.Range.Min) })
	return leases
}

// wantLeases checks that a container has n leases that cover all feed ranges without gaps.
func (w *world) wantLeases(container string, n int) {
	w.Helper()
	leases := w.leasesOf(container)
	if len(leases) != n {
		w.Errorf("%d leases of %s, want %d: %+v", len(leases), container, n, leases)
	}
	end := ""
	for _, lease := range leases {
		if lease.Range.Min != end {
			w.Errorf("a lease begins at %q, but the one before ends at %q", lease.Range.Min, end)
		}
		end = lease.Range.Max
	}
	if end != "FF" {
		w.Errorf("the last lease ends at %q", end)
	}
}

// Feed ranges that are split while several projectors work on them get their own leases, and
// every view equals its source.
func TestSplitsWithSeveralProjectors(t *testing.T) {
	seed := testseed.Of(t)
	synctest.Test(t, func(t *testing.T) {
		w := newWorldOf(t, 1)
		members := w.members(3, func(o *projector.Options) { o.Wake = w.wake })
		advanceTime(10 * balance)
		splits := 0
		for i := range uint64(6) {
			simulate(w, seed+i, 100)
			if i%2 == 0 { // 0 into 1 and 2, then 1 into 3 and 4
				w.split(schema.Posts, splits)
				w.split(schema.Users, splits)
				splits++
			}
		}
		advanceTime(10 * balance)
		for _, container := range []string{schema.Users, schema.Posts} {
			w.wantLeases(container, splits+1)
		}
		if shares := w.loads(); !slices.Equal(shares, []int{3, 4, 4}) {
			t.Errorf("loads are %v", shares)
		}
		for _, m := range members {
			m.stop()
		}
		w.settle()
		w.wantViewsEqualSource()
	})
}

// startsOver makes a wire count how often a container's change feed is read from the beginning.
func (c *wire) startsOver(container string) *int {
	n := new(int)
	c.refuse = func(request *http.Request) int {
		if strings.HasSuffix(request.URL.Path, "/colls/"+container+"/docs") && request.Header.Get("A-Im") != "" &&
			request.Header.Get("If-None-Match") == "" {
			*n++
		}
		return 0
	}
	return n
}

// After a split, the parts continue at the checkpoint of the whole range: projected changes are
// not read again.
func TestSplitKeepsCheckpoint(t *testing.T) {
	w := newWorld(t)
	anna := w.user()
	w.posts(anna, 5)
	w.settle()
	wire, s := w.wired()
	startsOver, p := wire.startsOver(schema.Posts), w.projector(s)
	w.split(schema.Posts, 0)
	for range 3 {
		w.posts(anna, 5)
		if err := p.SettleForTests(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	w.wantLeases(schema.Posts, 2)
	w.settle()
	w.wantViewsEqualSource()
	if *startsOver > 0 {
		t.Errorf("the change feed was read from the beginning %d times", *startsOver)
	}
}

// A projector may die at any request of a split's handling. The next one misses no change, even
// if the parts were split again.
func TestCrashDuringSplit(t *testing.T) {
	for _, answerLost := range []bool{false, true} {
		t.Run(fmt.Sprintf("answerLost=%v", answerLost), func(t *testing.T) {
			for n := firstCrash(t); crashDuringSplit(t, n, answerLost); n += *strideFlag {
			}
		})
	}
}

func crashDuringSplit(t *testing.T, n int64, answerLost bool) (died bool) {
	w := newWorld(t)
	anna := w.user()
	w.posts(anna, 2)
	wire, s := w.wired()
	p := w.projector(s)
	if err := p.SettleForTests(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.post(anna)
	w.split(schema.Posts, 0)
	wire.answerLost = answerLost
	wire.left.Store(n)
	died = p.SettleForTests(t.Context()) != nil
	another := w.posts(anna, 2)
	w.like(anna, another[testseed.Rand(t).IntN(len(another))])
	if n%2 == 0 {
		w.split(schema.Posts, 1) // a part, before the parent lease is replaced
	}
	wire, s = w.wired()
	startsOver := wire.startsOver(schema.Posts)
	if err := w.projector(s).SettleForTests(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.wantViewsEqualSource()
	w.wantLeases(schema.Posts, 3-int(n%2))
	if *startsOver > 0 {
		t.Errorf("the change feed was read from the beginning %d times", *startsOver)
	}
	if t.Failed() {
		t.Fatalf("after a crash at request %d", n)
	}
	if !died {
		t.Logf("%d requests", n)
	}
	return died
}

// A process that reads none of the ranges of a container learns of a split all the same, and does
// not take its parts for the parts of a merge.
func TestSplitReadByAnotherProcess(t *testing.T) {
	w := newWorld(t)
	anna := w.user()
	w.posts(anna, 5)
	w.settle()
	feeds := changefeed.New(w.open(w.engine.NewTransport()).DB)
	if ranges, err := feeds.FeedRanges(t.Context(), schema.Posts); err != nil || len(ranges) != 1 {
		t.Fatalf("the ranges are %v, %v", ranges, err)
	}
	w.split(schema.Posts, 0)
	w.posts(anna, 5)
	w.settle()
	w.wantLeases(schema.Posts, 2)
	if ranges, err := feeds.FeedRanges(t.Context(), schema.Posts); err != nil || len(ranges) != 2 {
		t.Errorf("after the split, the ranges are %v, %v", ranges, err)
	}
}
