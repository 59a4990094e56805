package projector_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"cosmosblog/blog"
	"cosmosblog/projector"
	"cosmosblog/proof/testseed"
)

// liker returns the n-th of many users.
func liker(n int) *blog.User {
	return &blog.User{ID: fmt.Sprintf("u_%d", n), Username: "someone", Revision: 2}
}

// A like shows in the feed within 100 ms at any time, without polling. In the bubble only the
// projector's waits take time, and its requests, which take 2 ms each.
func TestLikeShowsInFeedWithin100ms(t *testing.T) {
	seed := testseed.Of(t)
	synctest.Test(t, func(t *testing.T) {
		w, random := newWorldOf(t, 2), rand.New(rand.NewPCG(seed, 0))
		post := w.post(w.user())
		m := w.members(1, func(o *projector.Options) { o.Wake = w.wake })[0]
		defer m.stop()
		m.wire.change(func(c *wire) {
			c.refuse = func(*http.Request) int {
				time.Sleep(2 * time.Millisecond)
				return 0
			}
		})
		advanceTime(balance)
		longest := time.Duration(0)
		for n := range 50 {
			advanceTime(time.Duration(random.Int64N(int64(2 * balance))))
			start := time.Now()
			w.like(liker(n), post)
			w.until(w.feedShows(post, n+1))
			longest = max(longest, time.Since(start))
		}
		if t.Log(longest); longest > 100*time.Millisecond {
			t.Errorf("a like showed after %v", longest)
		}
	})
}

// BenchmarkLikeToFeed measures the time from a like until the feed shows it, in one process
// with the engine.
func BenchmarkLikeToFeed(b *testing.B) {
	w := newWorld(b)
	_, stop := w.run(w.store, w.wakeOnly)
	defer stop()
	post := w.post(w.user())
	w.until(w.feedShows(post, 0))
	var took []time.Duration
	for b.Loop() {
		start := time.Now()
		w.like(liker(len(took)), post)
		for shows := w.feedShows(post, len(took)+1); !shows(); {
			runtime.Gosched()
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	for _, percent := range []int{50, 99} {
		at := took[(len(took)-1)*percent/100]
		b.ReportMetric(float64(at.Microseconds())/1000, fmt.Sprintf("p%d-ms", percent))
	}
}
