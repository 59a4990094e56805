package projector_test

import (
	"net/http"
	"sync/atomic"
	"testing"

	"cosmosblog/blog"
	"cosmosblog/projector"
	"cosmosblog/store/schema"
)

// feedLength returns the number of posts that the feed shows.
func (w *world) feedLength() int {
	w.Helper()
	n := 0
	for request := (blog.PageRequest{First: blog.MaxPageSize}); ; {
		page, err := w.store.Feed(w.Context(), request)
		if err != nil {
			w.Error(err)
		}
		n += len(page.Items)
		if !page.HasNextPage {
			return n
		}
		request.After = &page.Positions[len(page.Positions)-1]
	}
}

// However many posts are deleted at once, the feed always shows its full length if there are
// enough posts: it is refilled before its extra copies run out.
func TestFeedStaysFullDuringDeletions(t *testing.T) {
	w := newWorld(t)
	w.posts(w.user(), blog.FeedLength+10)
	anna := w.user()
	posts := w.posts(anna, blog.FeedLength*13/10)
	w.settle()
	for _, post := range posts[:blog.FeedLength/2] { // extra copies that need no refill
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
	if err := w.projector(s, func(o *projector.Options) { o.Parallel = 4 }).SettleForTests(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := least.Load(); n < blog.FeedLength {
		t.Errorf("the feed showed only %d posts meanwhile", n)
	}
	w.settle()
	w.wantViewsEqualSource()
	w.wantUserGone(anna)
}

// The feed also stays full if the readers of several feed ranges project deletions at the same
// time.
func TestFeedStaysFullDuringDeletionsOnManyRanges(t *testing.T) {
	w := newWorldOf(t, 8)
	w.posts(w.user(), blog.FeedLength+10)
	posts := w.posts(w.user(), blog.FeedLength*14/10)
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
	w.until(func() bool {
		return countsOf(t, p.Counts(), schema.Posts, "feed").Projected >= int64(len(posts))
	})
	stop()
	if n := least.Load(); n < blog.FeedLength {
		t.Errorf("the feed showed only %d posts meanwhile", n)
	}
	w.settle()
	w.wantViewsEqualSource()
}
