//go:build ci

package views_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/proof/storetest"
	"cosmosblog/proof/testseed"
	"cosmosblog/store/audit"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

// Several projectors concurrently project new and old posts, likes and deletions, and refill the
// feed. Some crash, and scripts may do only few operations. After every post is projected once
// more, the feed is right.
func TestFeedAfterRandomConcurrentHistory(t *testing.T) {
	seed := testseed.Of(t)
	worlds := []func(t *testing.T, r *storetest.ScriptFaults) *world{
		func(t *testing.T, r *storetest.ScriptFaults) *world { return newScriptWorld(t, r, false) },
		func(t *testing.T, r *storetest.ScriptFaults) *world {
			r.Most.Store(7)
			return newScriptWorld(t, r, false)
		},
		func(t *testing.T, _ *storetest.ScriptFaults) *world { // others write during each script
			pause := func(int) { time.Sleep(time.Duration(rand.IntN(100)) * time.Microsecond) }
			return newWorldWith(t, cosmostest.Options{Scripts: cosmostest.Scripts{Snapshot: true, Before: pause}})
		},
	}
	for _, i := range someOf[uint64](t, 1, 0, 1, 2) {
		open := worlds[i]
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			r := &storetest.ScriptFaults{}
			h := &concurrentHistory{world: open(t, r), posts: map[string]*blog.Post{}}
			first := &projectorOfFeed{concurrentHistory: h, own: h.world, Rand: rand.New(rand.NewPCG(seed, i))}
			for range 220 {
				first.create()
			}
			var group sync.WaitGroup
			for n := range uint64(3) {
				p := &projectorOfFeed{concurrentHistory: h, own: h.another(), Rand: rand.New(rand.NewPCG(seed, 10*i+n))}
				group.Go(func() {
					for range 5 * *historyFlag {
						p.step()
					}
				})
			}
			group.Wait()
			for _, post := range h.posts { // repeat the projections that crashed
				_, err := h.FeedView().Project(t.Context(), post)
				h.OK(err)
			}
			h.OK(h.RefillFeed(t.Context()))
			h.OK(h.RefillFeed(t.Context()))
			h.holdsVisibly()
		})
	}
}

// New posts arrive just before a refill lowers the horizon. If they push out copies that the refill
// has written, it starts again. Otherwise, it reads the horizon again, because each new copy
// writes it, and continues.
func TestNewPostsAtEndOfRefill(t *testing.T) {
	for _, c := range []struct {
		name         string
		older, marks int
	}{
		{"they push out copies", 80, 2},
		{"there is room", 30, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			ada := w.AddUser("Ada")
			var posts []*blog.Post
			project := func(s *world, n int) {
				for range n {
					w.Clock.Advance(time.Second)
					post := s.AddPost(ada)
					posts = append(posts, post)
					w.OK(s.RepairPost(w.Ctx(), post.ID))
				}
			}
			project(w, views.FeedCapacity+c.older)
			for _, post := range posts[c.older+10:][:75] {
				_, err := w.DeletePost(w.Ctx(), ada.ID, post.ID)
				w.OK(err)
				w.OK(w.RepairPost(w.Ctx(), post.ID))
			}
			other, ends, marks := w.another(), 0, 0
			w.Wire.Inject(func(_ int, r *http.Request, next storetest.Transporter) (*http.Response, error) {
				target, _ := cosmos.TargetOf(r)
				if target.Container != schema.Feed || r.Method == http.MethodGet || !strings.HasSuffix(r.URL.Path, views.HorizonID) {
					return next.Do(r)
				}
				body, err := io.ReadAll(r.Body)
				w.OK(err)
				r.Body = io.NopCloser(bytes.NewReader(body))
				if bytes.Contains(body, []byte("refillId")) {
					marks++
				} else if ends++; ends == 1 {
					project(other, views.FeedSurplus)
				}
				return next.Do(r)
			})
			w.OK(w.RefillFeed(w.Ctx()))
			w.Wire.Inject(nil)
			if ends < 2 || marks != c.marks {
				t.Errorf("the refill was marked %d times, and ended %d times; want %d marks", marks, ends, c.marks)
			}
			drifts, err := audit.Drifts(w.Ctx(), w.DB, schema.Feed, schema.FeedPartition)
			w.OK(err)
			for _, d := range drifts {
				t.Error(d.Kind, d.ID, d.Field, d.Is, d.Should)
			}
		})
	}
}
