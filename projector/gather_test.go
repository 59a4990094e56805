package projector_test

import (
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cosmosblog/projector"
)

// A thousand likes of one post, one every millisecond, are a few writes of its copies: as many as there are looks at the
// feed, woken or by the clock, and never more than the changes are gathered for. In the bubble nothing takes time but what the
// projector waits for, and its requests, which take 2 ms each.
func TestAThousandLikesAreFewWrites(t *testing.T) {
	const likes = 1000
	for name, test := range map[string]struct {
		change func(*world, *projector.Options)
		most   int
	}{
		"woken":      {func(w *world, o *projector.Options) { o.Wake, o.Gather = w.wake, 50*time.Millisecond }, 25},
		"by polling": {func(_ *world, o *projector.Options) { o.Poll = 200 * time.Millisecond }, 25},
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
				pass(2 * balance)
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
				if users > test.most || feed > test.most {
					t.Errorf("more than %d", test.most)
				}
			})
		})
	}
}

// Whatever a page's changes are projected from, and whatever that is held to, is read as of the page or later: no replica
// that is behind may hide a comment of a deleted post.
func TestAPageIsOneSession(t *testing.T) {
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
				t.Error("the comments of a deleted post are asked for outside of any session")
			}
		}
		return 0
	}
	if err := w.projector(s).Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if queries != 1 {
		t.Errorf("%d queries", queries)
	}
}
