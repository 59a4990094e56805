package projector_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"cosmosblog/projector"
	"cosmosblog/store/schema"
)

// countsOf returns the counts of one projection.
func countsOf(t *testing.T, counts projector.Counts, container, projection string) projector.ProjectionCounts {
	t.Helper()
	for _, of := range counts.Projections {
		if of.Container == container && of.Projection == projection {
			return of
		}
	}
	t.Fatalf("no projection %s of %s in %+v", projection, container, counts)
	return projector.ProjectionCounts{}
}

// Projectors count projected changes and written and unchanged views.
func TestCounts(t *testing.T) {
	w := newWorld(t)
	anna := w.user()
	posts := w.posts(anna, 3)
	first := w.projector(w.store)
	if got := countsOf(t, first.Counts(), schema.Posts, "feed"); got.Projected != 0 {
		t.Errorf("before the start: %+v", got)
	}
	settle := func(p *projector.Projector) {
		t.Helper()
		if err := p.SettleForTests(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	settle(first)
	w.like(anna, posts[0])
	settle(first)
	for _, projection := range []string{"feed", "userPosts"} {
		want := projector.ProjectionCounts{Container: schema.Posts, Projection: projection, Projected: 4, Written: 4}
		if diff := cmp.Diff(want, countsOf(t, first.Counts(), schema.Posts, projection)); diff != "" {
			t.Error(diff)
		}
	}
	for _, lease := range w.leasesOf(schema.Posts) {
		if err := w.store.DeleteLease(t.Context(), lease); err != nil {
			t.Fatal(err)
		}
	}
	second := w.projector(w.store)
	settle(second)
	if got := countsOf(t, second.Counts(), schema.Posts, "feed"); got.Written != 0 || got.Unchanged != 3 {
		t.Errorf("with up-to-date views: %+v", got)
	}
}

// Each pass of a sweep or deletion is counted.
func TestCountsOfPasses(t *testing.T) {
	w := newWorld(t)
	p := w.projector(w.store)
	settle := func() {
		t.Helper()
		if err := p.SettleForTests(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.clock.Advance(time.Minute)
	}
	anna, ben := w.user(), w.user()
	w.post(anna)
	w.rename(anna)
	w.deleteUser(ben)
	settle()
	if got := p.Counts(); got.SweepPasses != 1 || got.DeletionPasses != 1 {
		t.Errorf("after the first passes: %+v", got)
	}
	settle()
	if got := p.Counts(); got.SweepPasses != 2 || got.DeletionPasses < 2 {
		t.Errorf("after the last passes: %+v", got)
	}
}

// A lost lease is counted once, even if both loops of its worker notice. Released leases are
// not counted.
func TestCountOfLostLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		m := w.members(1)[0]
		advanceTime(2 * balance)
		if got := m.Counts().LeasesLost; got != 0 {
			t.Errorf("%d leases lost before any was taken", got)
		}
		all := int64(len(w.owners()))
		w.setOwner("another")
		advanceTime(2 * renew)
		if got := m.Counts().LeasesLost; got != all {
			t.Errorf("%d of %d leases lost", got, all)
		}
		advanceTime(expire + 2*balance)
		if feeds := m.Feeds(); len(feeds) != 2 {
			t.Errorf("works on %+v", feeds)
		}
		m.stop()
		if got := m.Counts().LeasesLost; got != all {
			t.Errorf("%d of %d leases lost at the end", got, all)
		}
	})
}
