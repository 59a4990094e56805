package views_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cosmosblog/blog"
	"cosmosblog/proof/storetest"
	"cosmosblog/proof/testseed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

func (w *world) postViews() map[string]views.PostView {
	return map[string]views.PostView{"users": w.UserPostView("u_a"), "feed": w.FeedView()}
}

// A view shows the greatest revision that was projected, in whatever order, however often and
// however concurrently the states of a post are projected. A deleted post never returns.
func TestViewsKeepGreatestRevision(t *testing.T) {
	w := newWorld(t)
	seed := testseed.Of(t)
	random := rand.New(rand.NewPCG(seed, 0))
	for name, p := range w.postViews() {
		for round := range 50 {
			id := fmt.Sprintf("p_%d", round)
			// Each loses to each of the others once at most, and once to the count of the first copy.
			states := make([]*blog.Post, cosmos.MaxConflictTries-1)
			for i := range states {
				revision := 1 + random.Int64N(9)
				states[i] = storetest.PostAtRevision(id, w.Clock.Date(), revision, round%2 == 1 && revision > 6)
			}
			var group sync.WaitGroup
			for _, state := range states {
				group.Go(func() {
					if _, err := p.Project(t.Context(), state); err != nil {
						t.Errorf("%s: %v", name, err)
					}
				})
			}
			group.Wait()
			newest := slices.MaxFunc(states, func(a, b *blog.Post) int { return int(a.Revision - b.Revision) })
			got, _, err := cosmos.Read[schema.PostItem](t.Context(), w.Container(p.Container), p.Partition, id)
			w.OK(err)
			if got.Revision != newest.Revision || got.Deleted != newest.Deleted || !got.Deleted && got.LikeCount != newest.LikeCount {
				t.Errorf("%s: the copy is %+v, want that of %+v", name, got, newest)
			}
		}
	}
}

// A changed post leaves the same copy as if it were projected for the first time, whether the copy
// was of an earlier state or a tombstone.
func TestChangedPostsHaveWholeCopies(t *testing.T) {
	first, w := newWorld(t), newWorld(t)
	for name, p := range w.postViews() {
		post := *storetest.PostAtRevision("p_1", w.Clock.Date(), 2, false)
		commented := post
		commented.CommentCount, commented.Revision = 1, 3
		commented.RecentComments = []*blog.Comment{{ID: "c_0", Author: post.Author, Excerpt: "First."}}
		changed := post
		changed.Author = &blog.User{ID: "u_a", Username: "renamed", Revision: 5}
		changed.Title, changed.Excerpt, changed.Version, changed.Revision = "Other title", "Other excerpt", 7, 9
		changed.RecentComments = []*blog.Comment{{ID: "c_1", Author: &blog.User{ID: "u_b", Username: "Bob", Revision: 2}, Excerpt: "Well."}}
		changed.CommentCount, changed.LikeCount, changed.UpdatedDate = 11, 12, w.Clock.Date()
		deleted, restored := changed, changed
		deleted.Deleted, deleted.Revision, restored.Revision = true, 10, 11
		for i, state := range []*blog.Post{&post, &commented, &changed, &deleted, &restored} {
			alone := *state
			alone.ID = fmt.Sprintf("p_first_%d", i)
			_, err := p.Project(t.Context(), state)
			w.OK(err)
			_, err = first.postViews()[name].Project(t.Context(), &alone)
			first.OK(err)
			got, want := w.item(p.Container, "p_1"), first.item(p.Container, alone.ID)
			want["id"], want["postId"] = "p_1", "p_1"
			if !state.Deleted {
				want["sortKey"] = schema.SortKey(state.CreationDate, "p_1")
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s, state %d: the copy is\n%v, want\n%v", name, i, got, want)
			}
		}
	}
}

// item returns the copy of a post without the properties of the service.
func (w *world) item(container, id string) map[string]any {
	w.T.Helper()
	for _, item := range w.items(container) {
		if item["id"] == id {
			return item
		}
	}
	w.T.Fatalf("%s has no copy of %s", container, id)
	return nil
}

// A view is written once for each revision, and never for an older one.
func TestViewsAreWrittenOnce(t *testing.T) {
	w := newWorld(t)
	for name, p := range w.postViews() {
		for i, want := range []struct {
			revision int64
			written  bool
		}{{3, true}, {3, false}, {2, false}, {4, true}, {4, false}} {
			written, err := p.Project(t.Context(), storetest.PostAtRevision("p_1", w.Clock.Date(), want.revision, false))
			w.OK(err)
			if written != want.written {
				t.Errorf("%s, %d: written %v, want %v", name, i, written, want.written)
			}
		}
	}
}

// The copy of a deleted post becomes a tombstone with a ttl and without content.
func TestTombstones(t *testing.T) {
	w := newWorld(t)
	for name, p := range w.postViews() {
		for _, there := range []bool{true, false} {
			id := fmt.Sprintf("p_%v", there)
			if there {
				_, err := p.Project(t.Context(), storetest.PostAtRevision(id, w.Clock.Date(), 1, false))
				w.OK(err)
			}
			written, err := p.Project(t.Context(), storetest.PostAtRevision(id, w.Clock.Date(), 2, true))
			w.OK(err)
			item, _, err := cosmos.Read[map[string]any](t.Context(), w.Container(p.Container), p.Partition, id)
			w.OK(err)
			maps.DeleteFunc(*item, func(name string, _ any) bool { return strings.HasPrefix(name, "_") })
			itemType := map[string]string{"users": "tombstone", "feed": "post"}[name] // in feed, the partition key
			want := map[string]any{"id": id, "postId": id, "userId": "u_a", "type": itemType, "creationDate": string(w.Clock.Date()),
				"revision": 2.0, "deleted": true, "ttl": 604800.0}
			if !written || !reflect.DeepEqual(*item, want) {
				t.Errorf("%s: written %v, %v", name, written, *item)
			}
		}
	}
}

// An edit or a like of a post that is older than the feed writes nothing to the feed: it takes a
// rejected patch, which also makes the session current, and a read of the horizon. If the post is
// in the feed, it takes a patch, which names no trigger.
func TestOldPostsDoNotChangeFeed(t *testing.T) {
	w := newWorld(t)
	start := w.Clock.Now()
	for i := range views.FeedCapacity + 10 {
		w.Clock.Advance(time.Second)
		_, err := w.FeedView().Project(t.Context(), storetest.PostAtRevision(fmt.Sprintf("p_%d", i), w.Clock.Date(), 1, false))
		w.OK(err)
	}
	w.Wire.Inject(nil)
	written, err := w.FeedView().Project(t.Context(), storetest.PostAtRevision("p_0", blog.NewDateTime(start.Add(time.Second)), 7, false))
	w.OK(err)
	if requests := w.Wire.Requests(); written || len(requests) != 2 || requests[0].Method != http.MethodPatch || requests[1].Method != http.MethodGet {
		t.Errorf("the like of an old post wrote to the feed, or took %d requests", len(requests))
	}
	w.Wire.Inject(nil)
	written, err = w.FeedView().Project(t.Context(), storetest.PostAtRevision("p_100", blog.NewDateTime(start.Add(101*time.Second)), 7, false))
	w.OK(err)
	if requests := w.Wire.Requests(); !written || len(requests) != 1 || requests[0].Header.Get("x-ms-documentdb-post-trigger-include") != "" {
		t.Errorf("the like of a post in the feed was not written, ran the trigger, or took %d requests", len(requests))
	}
	if live, _ := w.readFeed(); len(live) < views.FeedCapacity || len(live) > views.FeedCapacity+views.FeedSurplus {
		t.Errorf("%d copies", len(live))
	}
}

// The feed shows the 100 newest posts after any history: posts in any order, equal dates,
// deletions of more than the extra copies, and refills.
func TestFeedAfterRandomHistory(t *testing.T) {
	seed := testseed.Of(t)
	for _, i := range someOf[uint64](t, 1, 0, 1) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			w := newWorld(t)
			h := &history{world: w, Rand: rand.New(rand.NewPCG(seed, i)), posts: map[string]*blog.Post{}}
			for range 220 {
				h.create()
			}
			h.holds()
			for range *historyFlag {
				h.step()
				h.holds()
			}
		})
	}
}

// history is a sequence of changes of posts, written to posts and projected into feed.
type history struct {
	*world
	*rand.Rand
	posts map[string]*blog.Post
}

// create creates a post on one of few days, so that dates are equal or far apart.
func (h *history) create() {
	date := blog.NewDateTime(h.Clock.Now().AddDate(0, 0, -h.IntN(1+h.IntN(2000))))
	post := storetest.PostAtRevision(fmt.Sprintf("p_%d", h.IntN(1_000_000_000)), date, 1, false)
	h.posts[post.ID] = post
	h.Plant(h.Container(schema.Posts), post.ID, views.FeedCopyOf(post))
	h.project(post)
}

func (h *history) project(post *blog.Post) {
	h.T.Helper()
	_, err := h.FeedView().Project(h.Ctx(), post)
	h.OK(err)
}

// step creates some posts, or deletes many of the newest ones and refills the feed.
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
	h.OK(h.RefillFeed(h.Ctx()))
}

// live returns the positions of the posts that are not deleted, newest first.
func (h *history) live() []blog.Position {
	var live []blog.Position
	for _, post := range h.posts {
		if !post.Deleted {
			live = append(live, blog.Position{CreationDate: post.CreationDate, ID: post.ID})
		}
	}
	storetest.SortPositions(live, true)
	return live
}

// holds checks that the feed has every post above the horizon, at least 100 posts if there are so
// many, and no deleted post anywhere.
func (h *history) holds() {
	h.T.Helper()
	all, horizon := h.readFeed()
	got, want := above(all, horizon), above(h.live(), horizon)
	for _, p := range all {
		if post := h.posts[p.ID]; post == nil || post.Deleted {
			h.T.Fatalf("the feed has %v, but the post is %+v", p, post)
		}
	}
	if !slices.Equal(got, want) {
		h.T.Fatalf("%d copies above the horizon %v, want %d", len(got), horizon, len(want))
	}
	if n := len(h.live()); len(got) < min(n, blog.FeedLength) {
		h.T.Fatalf("the feed has %d of %d posts", len(got), n)
	}
}
