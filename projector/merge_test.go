package projector_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// merge merges a feed range of a container and the next one, by the id of the first in the engine.
func (w *world) merge(container string, id int) {
	w.Helper()
	if err := w.engine.MergeRanges(cosmos.DefaultDatabase, container, fmt.Sprint(id)); err != nil {
		w.Fatal(err)
	}
}

// polls makes a wire count the reads of a container's change feed.
func (c *wire) polls(container string) *int {
	n := new(int)
	c.refuse = func(request *http.Request) int {
		if strings.HasSuffix(request.URL.Path, "/colls/"+container+"/docs") && request.Header.Get("A-Im") != "" {
			*n++
		}
		return 0
	}
	return n
}

// TestMergedRangesAreReadOnce merges the parts of a range that was split
// (learn.microsoft.com/azure/cosmos-db/merge). Their leases are replaced by one, which begins at
// the earlier continuation: nothing is missed, and a poll is one request again. The position of the
// new lease covers those of before.
func TestMergedRangesAreReadOnce(t *testing.T) {
	w := newWorld(t)
	anna := w.user()
	w.posts(anna, 3)
	w.split(schema.Posts, 0)
	w.settle()
	w.wantLeases(schema.Posts, 2)
	w.posts(anna, 7)
	w.settle()
	before := cosmos.SessionToken{}
	for _, lease := range w.leasesOf(schema.Posts) {
		before.Merge(lease.Position)
	}

	w.posts(anna, 5) // not projected when the ranges are merged
	w.merge(schema.Posts, 1)
	w.posts(anna, 5)
	wire, s := w.wired()
	p := w.projector(s)
	for range 2 {
		w.must(p.SettleForTests(t.Context()))
	}
	w.wantLeases(schema.Posts, 1)
	w.wantViewsEqualSource()
	var passed cosmos.Reached
	for _, lease := range w.leasesOf(schema.Posts) {
		passed.Add(lease.Position)
	}
	if !passed.Covers(before.String()) {
		t.Errorf("the positions %s of before the merge are not passed: %+v", before, passed)
	}
	polls := wire.polls(schema.Posts)
	w.must(p.SettleForTests(t.Context()))
	idle := *polls
	w.post(anna)
	w.must(p.SettleForTests(t.Context()))
	w.settle()
	w.wantViewsEqualSource()

	single := newWorld(t)
	single.posts(single.user(), 3)
	single.settle()
	wire, s = single.wired()
	p = single.projector(s)
	single.must(p.SettleForTests(t.Context()))
	polls = wire.polls(schema.Posts)
	single.must(p.SettleForTests(t.Context()))
	if idle != *polls {
		t.Errorf("%d reads of the merged range, and %d of one that was never split", idle, *polls)
	}
}

// TestMergeWithSeveralProjectors merges ranges whose leases two projectors hold, and splits them
// again.
func TestMergeWithSeveralProjectors(t *testing.T) {
	for _, stopped := range []bool{false, true} {
		w := newWorld(t)
		anna := w.user()
		w.split(schema.Posts, 0)
		w.posts(anna, 5)
		first, second := w.projector(w.store), w.projector(w.store)
		w.must(first.SettleForTests(t.Context()))
		w.posts(anna, 5)
		w.merge(schema.Posts, 1)
		if !stopped {
			w.must(first.SettleForTests(t.Context()))
		}
		w.posts(anna, 5)
		w.must(second.SettleForTests(t.Context()))
		w.must(second.SettleForTests(t.Context()))
		w.wantLeases(schema.Posts, 1)
		w.split(schema.Posts, 3)
		w.posts(anna, 5)
		w.settle()
		w.wantLeases(schema.Posts, 2)
		w.wantViewsEqualSource()
	}
}

// TestCrashDuringMerge kills a projector at each request after a merge. The next one misses
// nothing.
func TestCrashDuringMerge(t *testing.T) {
	for _, answerLost := range []bool{false, true} {
		for n := firstCrash(t); ; n += *strideFlag {
			w := newWorld(t)
			anna := w.user()
			w.split(schema.Posts, 0)
			w.posts(anna, 4)
			wire, s := w.wired()
			p := w.projector(s)
			w.must(p.SettleForTests(t.Context()))
			w.posts(anna, 2)
			w.merge(schema.Posts, 1)
			wire.answerLost = answerLost
			wire.left.Store(n)
			died := p.SettleForTests(t.Context()) != nil
			w.posts(anna, 2)
			w.settle()
			w.wantLeases(schema.Posts, 1)
			w.wantViewsEqualSource()
			if t.Failed() {
				t.Fatalf("after a crash at request %d, answer lost: %t", n, answerLost)
			}
			if !died {
				break
			}
		}
	}
}
