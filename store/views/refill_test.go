package views_test

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/proof/storetest"
	"cosmosblog/proof/testseed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

// drained returns a feed of which deletions left n copies, with many older posts below the horizon.
func drained(t *testing.T, n int) *history {
	const all = views.FeedCapacity + drainedOlder
	h := &history{world: newWorld(t), posts: map[string]*blog.Post{}}
	var copies []any
	for i := range all {
		post := h.newPost()
		item := views.FeedCopyOf(post).(schema.PostItem)
		if i >= drainedOlder+n {
			post = storetest.PostAtRevision(post.ID, post.CreationDate, 2, true)
			item.Deleted, item.Revision = true, 2
		}
		h.posts[post.ID] = post
		h.Plant(h.Container(schema.Posts), post.ID, item)
		switch {
		case i == drainedOlder-1:
			horizon := views.HorizonAt(views.FeedPosition{CreationDate: post.CreationDate, ID: post.ID})
			horizon.Room = views.FeedSurplus - 1
			copies = append(copies, horizon)
		case i >= drainedOlder:
			copies = append(copies, views.FeedCopyOf(post))
		}
	}
	h.plantFeed(copies)
	return h
}

const (
	// drainedOlder is the number of posts below the horizon of a drained feed: enough to refill one of
	// RefillBelow copies. The last post was the last of FeedSurplus, so it trimmed the feed.
	drainedOlder = (views.FeedCapacity/4/views.FeedSurplus+1)*views.FeedSurplus + 1

	// drainedLeft is the number of copies in the drained feed of most tests.
	drainedLeft = blog.FeedLength * 6 / 5
)

// drainedByProjection is drained, but writes the feed as projectors do.
func drainedByProjection(t *testing.T, n int) *history {
	h := &history{world: newWorld(t), posts: map[string]*blog.Post{}}
	for range views.FeedCapacity + drainedOlder {
		post := h.newPost()
		h.Plant(h.Container(schema.Posts), post.ID, views.FeedCopyOf(post))
		h.project(post)
	}
	for _, position := range h.live()[:views.FeedCapacity-n] {
		h.remove(position)
	}
	return h
}

// TestDrainedFeed checks that the feed of most tests is in the state that projections leave.
func TestDrainedFeed(t *testing.T) {
	var feeds, posts [][]map[string]any
	for _, h := range []*history{drained(t, drainedLeft), drainedByProjection(t, drainedLeft)} {
		h.holds()
		feeds = append(feeds, h.items(schema.Feed))
		posts = append(posts, h.items(schema.Posts))
	}
	if !reflect.DeepEqual(feeds[0], feeds[1]) || !reflect.DeepEqual(posts[0], posts[1]) {
		t.Error("the feeds or the posts differ")
	}
}

// items returns the items of a container, sorted, without the properties of the service and the
// dates at which copies came into the feed.
func (w *world) items(container string) []map[string]any {
	w.T.Helper()
	items, err := cosmos.QueryAcross[map[string]any](w.Ctx(), w.Container(container), "SELECT * FROM c")
	w.OK(err)
	for _, item := range items {
		maps.DeleteFunc(item, func(name string, _ any) bool {
			return strings.HasPrefix(name, "_") || strings.Contains(strings.ToLower(name), "arrival")
		})
	}
	slices.SortFunc(items, func(a, b map[string]any) int { return strings.Compare(a["id"].(string), b["id"].(string)) })
	return items
}

// remove marks a post as deleted and projects it.
func (h *history) remove(position blog.Position) {
	h.T.Helper()
	post := storetest.PostAtRevision(position.ID, position.CreationDate, 2, true)
	h.posts[post.ID] = post
	item, etag, err := cosmos.Read[schema.PostItem](h.Ctx(), h.Container(schema.Posts), post.ID, post.ID)
	h.OK(err)
	item.Deleted, item.Revision = true, 2
	_, err = cosmos.Replace(h.Ctx(), h.Container(schema.Posts), post.ID, post.ID, item, etag)
	h.OK(err)
	h.project(post)
}

// A refill writes copies up to the capacity of the feed, or of all posts if there are fewer. In
// that case there is no horizon afterwards.
func TestRefillFeed(t *testing.T) {
	for _, test := range []struct {
		name     string
		left     int
		want     int
		horizons bool
	}{
		{"enough is left", views.RefillBelow, views.RefillBelow, true},
		{"less is left", views.RefillBelow - 1, views.FeedCapacity, true},
		{"all posts fit", views.FeedCapacity - drainedOlder, views.FeedCapacity, false},
		{"nothing is left", 0, drainedOlder, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := drained(t, test.left)
			h.OK(h.RefillFeed(t.Context()))
			h.holds()
			live, horizon := h.readFeed()
			if len(live) != test.want || (horizon.CreationDate != "") != test.horizons {
				t.Errorf("%d copies above %v, want %d", len(live), horizon, test.want)
			}
		})
	}
}

// A refill that crashes at any request leaves no gap, and another one finishes it. Each run tests
// some requests, with growing distances: most requests of a refill write one copy each.
func TestCrashDuringRefill(t *testing.T) {
	random := testseed.Rand(t)
	next := func(n int) int { return 4*n + random.IntN(4) }
	if *strideFlag == 1 {
		next = func(n int) int { return n + 1 + n/10 }
	}
	for n := 1; ; n = next(n) {
		h := drained(t, drainedLeft)
		h.Wire.Inject(cosmostest.From(n, storetest.CutBefore))
		crashed := h.RefillFeed(t.Context()) != nil
		h.Wire.Inject(nil)
		live, _ := h.readFeed()
		if want := h.live()[:len(live)]; !slices.Equal(live, want) {
			t.Fatalf("crash at request %d: the feed has a gap", n)
		}
		h.OK(h.RefillFeed(t.Context()))
		h.OK(h.RefillFeed(t.Context()))
		if live, _ := h.readFeed(); len(live) < blog.FeedLength {
			t.Fatalf("crash at request %d: %d copies at the end", n, len(live))
		}
		if !crashed {
			return
		}
	}
}

// A post that is liked during a refill is shown with that like. A projector that read the horizon
// before the mark skipped the post, but the source had the like by then. A later one writes the
// copy.
func TestLikeDuringRefill(t *testing.T) {
	for _, test := range []struct {
		name    string
		at      func(r *http.Request, postID string) bool // the request before whose answer the like is made and projected
		written bool
	}{
		{"before the mark", func(r *http.Request, _ string) bool { return isOfHorizon(r, http.MethodPut) }, false},
		{"after the source was read", func(r *http.Request, postID string) bool {
			return r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/posts/docs/"+postID)
		}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := drained(t, drainedLeft)
			position := h.live()[drainedLeft+10]
			liked, written := false, false
			h.Wire.Inject(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
				meets := !liked && test.at(request, position.ID)
				if meets && !test.written {
					liked, written = true, h.like(position)
				}
				response, err := next.Do(request)
				if meets && test.written {
					liked, written = true, h.like(position)
				}
				return response, err
			})
			h.OK(h.RefillFeed(t.Context()))
			h.Wire.Inject(nil)
			copied, _, err := cosmos.Read[schema.PostItem](t.Context(), h.Container(schema.Feed), schema.FeedPartition, position.ID)
			h.OK(err)
			if !liked || written != test.written || copied.Revision != 2 {
				t.Errorf("liked %v, written by that %v, and the copy has revision %d", liked, written, copied.Revision)
			}
		})
	}
}

func isOfHorizon(r *http.Request, method string) bool {
	return r.Method == method && strings.HasSuffix(r.URL.Path, "/docs/"+views.HorizonID)
}

// like likes a post by way of another server, projects it, and reports whether that wrote the copy.
func (h *history) like(position blog.Position) bool {
	other := h.another()
	post := storetest.PostAtRevision(position.ID, position.CreationDate, 2, false)
	_, etag, err := cosmos.Read[schema.PostItem](h.Ctx(), other.Container(schema.Posts), post.ID, post.ID)
	h.OK(err)
	_, err = cosmos.Replace(h.Ctx(), other.Container(schema.Posts), post.ID, post.ID, views.FeedCopyOf(post), etag)
	h.OK(err)
	written, err := other.FeedView().Project(h.Ctx(), post)
	h.OK(err)
	return written
}

// Copies below the horizon follow their posts, so that they are right when a refill lowers the
// horizon.
func TestCopiesBelowHorizon(t *testing.T) {
	h := drained(t, drainedLeft)
	liked, deleted, unchanged := h.live()[drainedLeft+5], h.live()[drainedLeft+10], h.live()[drainedLeft+15]
	var copies []any
	for _, p := range []blog.Position{liked, deleted, unchanged} {
		copies = append(copies, views.FeedCopyOf(h.posts[p.ID]))
	}
	h.plantFeed(copies)
	if !h.like(liked) {
		t.Error("a like of a post below the horizon did not change its copy")
	}
	h.remove(deleted)
	h.holds()
	h.OK(h.RefillFeed(t.Context()))
	h.holds()
	copied, _, err := cosmos.Read[schema.PostItem](t.Context(), h.Container(schema.Feed), schema.FeedPartition, liked.ID)
	h.OK(err)
	if _, horizon := h.readFeed(); copied.Revision != 2 || !isNewer(unchanged, horizon) {
		t.Errorf("the copy has revision %d, and the horizon is %v", copied.Revision, horizon)
	}
}

// If more posts of earlier dates are created than a refill keeps in memory, it starts again and
// misses none.
func TestRefillDuringManyBackdatedPosts(t *testing.T) {
	h := drained(t, drainedLeft)
	date, came := h.live()[drainedLeft+5].CreationDate, false
	other := h.another()
	h.Wire.Inject(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if isOfHorizon(request, http.MethodPut) && !came {
			came = true
			for i := range 2 * views.FeedCapacity {
				post := storetest.PostAtRevision(fmt.Sprintf("p_older%d", i), date, 1, false)
				h.posts[post.ID] = post
				other.Plant(other.Container(schema.Posts), post.ID, views.FeedCopyOf(post))
			}
		}
		return next.Do(request)
	})
	if err := h.RefillFeedOnce(t.Context()); !errors.Is(err, views.ErrBackfilled) {
		t.Error(err)
	}
	h.OK(h.RefillFeed(t.Context()))
	h.Wire.Inject(nil)
	h.holds()
}
