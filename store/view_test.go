package store

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cosmosblog/internal/blog"
)

// stated gives a post in the state of a revision.
func stated(id string, date blog.DateTime, revision int64, deleted bool) *blog.Post {
	return &blog.Post{
		ID: id, Author: &blog.User{ID: "u_a", Username: "anna", Revision: 2}, Title: fmt.Sprint("title of ", revision), Excerpt: "…",
		LikeCount: int(revision), CreationDate: date, Version: 1, Revision: revision, Deleted: deleted,
	}
}

// projection is what writes a view, and the view.
type projection struct {
	project func(context.Context, *blog.Post) (bool, error)
	view
}

func (w *world) projections() map[string]projection {
	return map[string]projection{
		"users": {w.ProjectUserPost, view{w.users, "u_a"}},
		"feed":  {w.ProjectFeedPost, w.feedView()},
	}
}

// A view shows the greatest revision that ever came, in whatever order and however often the states come, also at the
// same time; and a deleted post never comes back.
func TestViewsKeepTheGreatestRevision(t *testing.T) {
	w := newWorld(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for name, p := range w.projections() {
		for round := range 50 {
			id := fmt.Sprintf("p_%d", round)
			states := make([]*blog.Post, maxRaces) // each loses to each of the others once at most
			for i := range states {
				revision := 1 + random.Int64N(9)
				states[i] = stated(id, w.clock.date(), revision, round%2 == 1 && revision > 6)
			}
			var group sync.WaitGroup
			for _, state := range states {
				group.Go(func() {
					if _, err := p.project(t.Context(), state); err != nil {
						t.Errorf("%s: %v", name, err)
					}
				})
			}
			group.Wait()
			newest := slices.MaxFunc(states, func(a, b *blog.Post) int { return int(a.Revision - b.Revision) })
			got, _, err := read[postItem](t.Context(), p.container, p.partition, id)
			w.ok(err)
			if got.Revision != newest.Revision || got.Deleted != newest.Deleted || !got.Deleted && got.LikeCount != newest.LikeCount {
				t.Errorf("%s: the copy is %+v, want that of %+v", name, got, newest)
			}
		}
	}
}

func (c *stillClock) date() blog.DateTime { return blog.NewDateTime(c.Now()) }

func TestViewsAreWrittenOnce(t *testing.T) {
	w := newWorld(t)
	for name, p := range w.projections() {
		for i, want := range []struct {
			revision int64
			written  bool
		}{{3, true}, {3, false}, {2, false}, {4, true}, {4, false}} {
			written, err := p.project(t.Context(), stated("p_1", w.clock.date(), want.revision, false))
			w.ok(err)
			if written != want.written {
				t.Errorf("%s, %d: written %v, want %v", name, i, written, want.written)
			}
		}
	}
}

func TestTombstonesHoldNothingAndExpire(t *testing.T) {
	w := newWorld(t)
	for name, p := range w.projections() {
		for _, there := range []bool{true, false} {
			id := fmt.Sprintf("p_%v", there)
			if there {
				_, err := p.project(t.Context(), stated(id, w.clock.date(), 1, false))
				w.ok(err)
			}
			written, err := p.project(t.Context(), stated(id, w.clock.date(), 2, true))
			w.ok(err)
			item, _, err := read[map[string]any](t.Context(), p.container, p.partition, id)
			w.ok(err)
			maps.DeleteFunc(*item, func(name string, _ any) bool { return strings.HasPrefix(name, "_") })
			want := map[string]any{"id": id, "postId": id, "userId": "u_a", "type": "post", "creationDate": string(w.clock.date()),
				"revision": 2.0, "deleted": true, "ttl": 604800.0}
			if !written || !maps.Equal(*item, want) {
				t.Errorf("%s: written %v, %v", name, written, *item)
			}
		}
	}
}

// An edit or a like of a post that is older than the feed writes nothing there, and one that is in it names no trigger.
func TestOldPostsLeaveTheFeedAlone(t *testing.T) {
	w := newWorld(t)
	start := w.clock.Now()
	for i := range feedCapacity + 10 {
		w.clock.advance(time.Second)
		_, err := w.ProjectFeedPost(t.Context(), stated(fmt.Sprintf("p_%d", i), w.clock.date(), 1, false))
		w.ok(err)
	}
	w.faults.set(nil)
	written, err := w.ProjectFeedPost(t.Context(), stated("p_0", blog.NewDateTime(start.Add(time.Second)), 7, false))
	w.ok(err)
	if written || slices.ContainsFunc(w.faults.requests(), func(r *http.Request) bool { return r.Method != http.MethodGet }) {
		t.Error("the like of an old post wrote to the feed")
	}
	w.faults.set(nil)
	written, err = w.ProjectFeedPost(t.Context(), stated("p_100", blog.NewDateTime(start.Add(101*time.Second)), 7, false))
	w.ok(err)
	if !written || slices.ContainsFunc(w.faults.requests(), func(r *http.Request) bool { return r.Header.Get("x-ms-documentdb-post-trigger-include") != "" }) {
		t.Error("the like of a post in the feed was not written, or ran the trigger")
	}
	if live, _ := w.readFeed(); len(live) != feedCapacity {
		t.Errorf("%d copies", len(live))
	}
}

// The feed's 100 newest are right after any history: posts that come in any order, with equal dates, deletions that eat
// the reserve, and a feed that is filled again.
func TestFeedAfterAnyHistory(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for i := range uint64(2) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			w := newWorld(t)
			h := &history{world: w, Rand: rand.New(rand.NewPCG(seed, i)), posts: map[string]*blog.Post{}}
			for range 350 {
				h.create()
			}
			h.holds()
			for range 25 {
				h.step()
				h.holds()
			}
		})
	}
}

// history is what happened to posts: in posts, and through the projections in feed.
type history struct {
	*world
	*rand.Rand
	posts map[string]*blog.Post
}

// create makes a post on one of few days, so that dates are equal and far apart.
func (h *history) create() {
	date := blog.NewDateTime(h.clock.Now().AddDate(0, 0, -h.IntN(1+h.IntN(2000))))
	post := stated(fmt.Sprintf("p_%d", h.IntN(1_000_000_000)), date, 1, false)
	h.posts[post.ID] = post
	h.plant(h.Store.posts, post.ID, copyOf(post))
	h.project(post)
}

func (h *history) project(post *blog.Post) {
	h.t.Helper()
	_, err := h.ProjectFeedPost(h.ctx(), post)
	h.ok(err)
}

// step deletes many of the newest posts, or makes some, and fills the feed again.
func (h *history) step() {
	if h.IntN(3) == 0 {
		for range h.IntN(60) {
			h.create()
		}
		return
	}
	live := h.live()
	for i := range h.IntN(min(len(live), 80) + 1) {
		h.remove(live[i])
	}
	h.ok(h.RefillFeed(h.ctx()))
}

// live gives the positions of the posts that are not deleted, newest first.
func (h *history) live() []blog.Position {
	var live []blog.Position
	for _, post := range h.posts {
		if !post.Deleted {
			live = append(live, blog.Position{CreationDate: post.CreationDate, ID: post.ID})
		}
	}
	sortPositions(live, true)
	return live
}

// holds holds the feed to its promise: it has every post above the horizon and none at or below, and 100 where there are.
func (h *history) holds() {
	h.t.Helper()
	got, horizon := h.readFeed()
	want := h.live()
	if i := slices.IndexFunc(want, func(p blog.Position) bool { return !isNewer(p, horizon) }); i >= 0 {
		want = want[:i]
	}
	if !slices.Equal(got, want) {
		h.t.Fatalf("%d copies above the horizon %v, want %d", len(got), horizon, len(want))
	}
	if n := len(h.live()); len(got) < min(n, blog.FeedLength) {
		h.t.Fatalf("the feed has %d of %d posts", len(got), n)
	}
}
