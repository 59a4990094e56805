package projector_test

import (
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cosmosblog/projector"
)

// Five hundred likes of one post, one every millisecond, cause few writes of its copies: one for
// each read of the feed, woken or by polling, and none more often than the gather interval. In
// the bubble only the projector's waits take time, and its requests, which take 2 ms each.
func TestManyLikesCauseFewWrites(t *testing.T) {
	const likes = 500
	for name, test := range map[string]struct {
		change func(*world, *projector.Options)
		limit  int
	}{
		"woken":      {func(w *world, o *projector.Options) { o.Wake, o.Gather = w.wake, 50*time.Millisecond }, 14},
		"by polling": {func(_ *world, o *projector.Options) { o.Poll, o.Gather = 200*time.Millisecond, 100*time.Millisecond }, 14},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorldOf(t, 1)
				post := w.post(w.user())
				m := w.members(1, func(o *projector.Options) { test.change(w, o) })[0]
				defer m.stop()
				m.wire.change(func(c *wire) {
					c.refuse = func(*http.Request) int {
						time.Sleep(2 * time.Millisecond)
						return 0
					}
				})
				advanceTime(2 * balance)
				users, feed := m.wire.writesTo("users"), m.wire.writesTo("feed")
				var group sync.WaitGroup
				for n := range likes {
					group.Go(func() {
						time.Sleep(time.Duration(n) * time.Millisecond)
						w.like(liker(n), post)
					})
				}
				group.Wait()
				w.until(w.feedShows(post, likes))
				users, feed = m.wire.writesTo("users")-users, m.wire.writesTo("feed")-feed
				t.Logf("%d writes to users and %d to feed", users, feed)
				if users > test.limit || feed > test.limit {
					t.Errorf("more than %d", test.limit)
				}
			})
		})
	}
}

// Reads and writes of a page happen in one session that starts at the page, so that a lagging
// replica cannot hide a comment of a deleted post.
func TestPageIsOneSession(t *testing.T) {
	w := newWorld(t)
	anna := w.user()
	post := w.post(anna)
	w.comment(anna, post)
	w.settle()
	w.delete(post)
	wire, s := w.wired()
	queries := 0
	wire.refuse = func(request *http.Request) int {
		if containerOf(request) == "posts" && request.Header.Get("X-Ms-Documentdb-Query") != "" {
			if queries++; request.Header.Get("X-Ms-Session-Token") == "" {
				t.Error("the comments of a deleted post are queried without a session token")
			}
		}
		return 0
	}
	if err := w.projector(s).SettleForTests(t.Context()); err != nil {
		t.Fatal(err)
	}
	if queries != 1 {
		t.Errorf("%d queries", queries)
	}
}
