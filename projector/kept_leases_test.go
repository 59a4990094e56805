//go:build ci

package projector_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cosmosblog/projector"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/schema"
)

// A projector keeps its leases in a history that keeps them, also if that begins while it holds
// them: it projects no change again, saves the leases in that history, and misses no change.
func TestProjectorInAHistoryThatKeepsLeases(t *testing.T) {
	w := newWorld(t)
	anna := w.user()
	post := w.posts(anna, 3)[2]
	w.settle()
	before := w.leasesOf(schema.Posts)
	end := func() (present changefeed.History) {
		t.Helper()
		present, err := w.store.EndHistoryKeepingLeases(t.Context(), "", "a test")
		w.must(err)
		return present
	}
	ended := end()
	w.settle()
	wanted := before[0]
	wanted.History = ended.Name
	got := w.leasesOf(schema.Posts)[0]
	wanted.ETag, wanted.AsOf = got.ETag, got.AsOf
	if difference := cmp.Diff(wanted, got); difference != "" {
		t.Errorf("the lease differs (- before, + after):\n%s", difference)
	}

	p, stop := w.run(w.store, func(o *projector.Options) { o.Balance = 20 * time.Millisecond })
	defer stop()
	for likes := 1; likes <= 3; likes++ {
		w.until(func() bool { return p.Counts().LeasesHeld > 0 && p.History().Name == ended.Name })
		ended = end()
		w.like(anna, post)
		w.until(w.feedShows(post, 1))
		_, err := w.store.UnlikePost(t.Context(), anna, post.ID)
		w.must(err)
		w.until(w.feedShows(post, 0))
	}
	if n := countsOf(t, p.Counts(), schema.Posts, "feed").Projected; n > 3*2*2 {
		t.Errorf("%d changes are projected instead of 6", n)
	}
}
