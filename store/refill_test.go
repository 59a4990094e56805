package store

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"cosmosblog/internal/blog"
)

// drained is a feed of which deletions left no more than n copies, with many older posts below the horizon.
func drained(t *testing.T, n int) *history {
	h := &history{world: newWorld(t), posts: map[string]*blog.Post{}}
	for i := range feedCapacity + 60 {
		h.clock.advance(time.Hour)
		post := stated(fmt.Sprintf("p_%d", i), h.clock.date(), 1, false)
		h.posts[post.ID] = post
		h.plant(h.Store.posts, post.ID, copyOf(post))
		h.project(post)
	}
	for _, position := range h.live()[:feedCapacity-n] {
		h.remove(position)
	}
	return h
}

// remove marks a post as deleted and projects that.
func (h *history) remove(position blog.Position) {
	h.t.Helper()
	post := stated(position.ID, position.CreationDate, 2, true)
	h.posts[post.ID] = post
	item, etag, err := read[postItem](h.ctx(), h.Store.posts, post.ID, post.ID)
	h.ok(err)
	item.Deleted, item.Revision = true, 2
	_, err = replace(h.ctx(), h.Store.posts, post.ID, post.ID, item, etag)
	h.ok(err)
	h.project(post)
}

// The feed is filled again up to its capacity, or with all that there is; then there is no horizon any more.
func TestRefillFeed(t *testing.T) {
	for _, test := range []struct {
		name     string
		left     int
		want     int
		horizons bool
	}{
		{"enough is left", refillBelow, refillBelow, true},
		{"less is left", refillBelow - 1, feedCapacity, true},
		{"all posts fit", 140, feedCapacity, false},
		{"nothing is left", 0, 60, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := drained(t, test.left)
			h.ok(h.RefillFeed(t.Context()))
			h.holds()
			live, horizon := h.readFeed()
			if len(live) != test.want || (horizon.CreationDate != "") != test.horizons {
				t.Errorf("%d copies above %v, want %d", len(live), horizon, test.want)
			}
		})
	}
}

// A refill that dies anywhere leaves no gap, and another finishes it.
func TestRefillDiesAnywhere(t *testing.T) {
	for n := 1; ; n = 2*n + 1 {
		h := drained(t, 120)
		h.faults.set(deadFrom(n))
		died := h.RefillFeed(t.Context()) != nil
		h.faults.set(nil)
		live, _ := h.readFeed()
		if want := h.live()[:len(live)]; !slices.Equal(live, want) {
			t.Fatalf("death at request %d: a gap", n)
		}
		h.ok(h.RefillFeed(t.Context()))
		h.ok(h.RefillFeed(t.Context()))
		if live, _ := h.readFeed(); len(live) < blog.FeedLength {
			t.Fatalf("death at request %d: %d copies in the end", n, len(live))
		}
		if !died {
			return
		}
	}
}

// A post that is liked while it is brought back is shown with that like: whoever projected it before the mark found the post below
// the horizon and let it go, but then the source had it already; and whoever comes later writes the copy.
func TestRefillSeesWhatItRaces(t *testing.T) {
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
			h := drained(t, 120)
			position := h.live()[130]
			liked, written := false, false
			h.faults.set(func(_ int, request *http.Request, next transporter) (*http.Response, error) {
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
			h.ok(h.RefillFeed(t.Context()))
			h.faults.set(nil)
			copied, _, err := read[postItem](t.Context(), h.feed, feedPartition, position.ID)
			h.ok(err)
			if !liked || written != test.written || copied.Revision != 2 {
				t.Errorf("liked %v, written by that %v, and the copy has revision %d", liked, written, copied.Revision)
			}
		})
	}
}

func isOfHorizon(r *http.Request, method string) bool {
	return r.Method == method && strings.HasSuffix(r.URL.Path, "/docs/"+horizonID)
}

// like writes a post as another server's like would, and projects that. It tells whether that wrote the copy.
func (h *history) like(position blog.Position) bool {
	other := h.another()
	post := stated(position.ID, position.CreationDate, 2, false)
	_, etag, err := read[postItem](h.ctx(), other.Store.posts, post.ID, post.ID)
	h.ok(err)
	_, err = replace(h.ctx(), other.Store.posts, post.ID, post.ID, copyOf(post), etag)
	h.ok(err)
	written, err := other.ProjectFeedPost(h.ctx(), post)
	h.ok(err)
	return written
}

// What was brought back in vain does not stay below the horizon: neither where who did it died, and posts of earlier dates took the
// places meanwhile, nor where a copy comes when all is over.
func TestRefillLeavesNothingBelowTheHorizon(t *testing.T) {
	h := drained(t, refillBelow-1)
	live := h.live()
	marks := 0
	h.faults.set(func(_ int, request *http.Request, next transporter) (*http.Response, error) {
		if isOfHorizon(request, http.MethodPut) {
			marks++
		}
		if marks == 2 {
			return nil, errors.New("it died")
		}
		return next.Do(request)
	})
	if h.RefillFeed(t.Context()) == nil {
		t.Error("it did not die")
	}
	h.faults.set(nil)
	for i := range 10 {
		h.backfill(fmt.Sprintf("p_backfilled%d", i), live[170].CreationDate)
	}
	h.ok(h.RefillFeed(t.Context()))
	h.holds()
	last := h.live()[feedCapacity+1]
	_, err := h.writeFeedCopy(t.Context(), h.posts[last.ID], copyState{})
	h.ok(err)
	h.holds()
}

// Where more posts of an earlier date come than a refill keeps in memory, it begins anew, and all are there.
func TestRefillBesideManyOlderPosts(t *testing.T) {
	h := drained(t, 120)
	date, came := h.live()[125].CreationDate, false
	other := h.another()
	h.faults.set(func(_ int, request *http.Request, next transporter) (*http.Response, error) {
		if isOfHorizon(request, http.MethodPut) && !came {
			came = true
			for i := range 2 * feedCapacity {
				post := stated(fmt.Sprintf("p_older%d", i), date, 1, false)
				h.posts[post.ID] = post
				other.plant(other.Store.posts, post.ID, copyOf(post))
			}
		}
		return next.Do(request)
	})
	if err := h.refillFeed(t.Context()); !errors.Is(err, errBackfilled) {
		t.Error(err)
	}
	h.ok(h.RefillFeed(t.Context()))
	h.faults.set(nil)
	h.holds()
}
