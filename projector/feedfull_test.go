package projector_test

import (
	"net/http"
	"sync/atomic"
	"testing"

	"cosmosblog/internal/blog"
	"cosmosblog/projector"
	"cosmosblog/store"
)

// feedLength gives how many posts the feed shows.
func (w *world) feedLength() int {
	w.Helper()
	page, err := w.store.Feed(w.Context(), blog.PageRequest{First: blog.MaxPageSize})
	if err != nil {
		w.Error(err)
	}
	return len(page.Items)
}

// However many posts are deleted at once, the feed shows as many as it should at any time, where there are as many: it is
// filled again before its reserve is gone.
func TestTheFeedIsFullWhileManyPostsAreDeleted(t *testing.T) {
	w := newWorld(t)
	w.posts(w.user(), 150)
	anna := w.user()
	posts := w.posts(anna, 200)
	w.settle()
	for _, post := range posts[:50] { // the reserve that is not filled again
		w.delete(post)
	}
	w.settle()
	w.deleteUser(anna)

	wire, s := w.wired()
	var least atomic.Int64
	least.Store(blog.FeedLength)
	wire.refuse = func(request *http.Request) int {
		if isWrite(request) && containerOf(request) == "feed" {
			least.Store(min(least.Load(), int64(w.feedLength())))
		}
		return 0
	}
	if err := w.projector(s, func(o *projector.Options) { o.Parallel = 4 }).Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := least.Load(); n < blog.FeedLength {
		t.Errorf("meanwhile the feed showed %d posts", n)
	}
	w.settle()
	w.check()
	w.isGone(anna)
}

// The feed shows as many posts as it should also while the readers of several feed ranges come upon deletions at the same time.
func TestTheFeedIsFullWhileManyPostsAreDeletedOnManyRanges(t *testing.T) {
	w := newWorldOf(t, 8)
	w.posts(w.user(), 150)
	posts := w.posts(w.user(), 300)
	w.settle()
	for _, post := range posts {
		w.delete(post)
	}
	wire, s := w.wired()
	var least atomic.Int64
	least.Store(blog.FeedLength)
	wire.refuse = func(request *http.Request) int {
		if isWrite(request) && containerOf(request) == "feed" {
			least.Store(min(least.Load(), int64(w.feedLength())))
		}
		return 0
	}
	p, stop := w.run(s, func(o *projector.Options) { o.Parallel = 4 })
	w.until(func() bool { return w.lags(p.Feeds()...)[store.PostsContainer] == 0 })
	stop()
	if n := least.Load(); n < blog.FeedLength {
		t.Errorf("meanwhile the feed showed %d posts", n)
	}
	w.settle()
	w.check()
}
