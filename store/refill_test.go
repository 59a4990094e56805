package store

import (
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

// A post that is liked while it is brought back is shown with that like, although whoever projected the like found the
// post below the horizon.
func TestRefillSeesWhatItRaces(t *testing.T) {
	h := drained(t, 0)
	position := h.live()[0]
	liked := false
	h.faults.set(func(n int, request *http.Request, next transporter) (*http.Response, error) {
		response, err := next.Do(request)
		read := request.Method == http.MethodGet && strings.HasSuffix(request.URL.Path, "/posts/docs/"+position.ID)
		if read && !liked { // after the source was read, and before the copy is written
			liked = true
			h.like(position)
		}
		return response, err
	})
	h.ok(h.RefillFeed(t.Context()))
	h.faults.set(nil)
	copied, _, err := read[postItem](t.Context(), h.feed, feedPartition, position.ID)
	h.ok(err)
	if !liked || copied.Revision != 2 {
		t.Errorf("liked %v, and the copy has revision %d", liked, copied.Revision)
	}
}

// like writes a post as another server's like would, and projects that.
func (h *history) like(position blog.Position) {
	other := h.another()
	post := stated(position.ID, position.CreationDate, 2, false)
	_, etag, err := read[postItem](h.ctx(), other.Store.posts, post.ID, post.ID)
	h.ok(err)
	_, err = replace(h.ctx(), other.Store.posts, post.ID, post.ID, copyOf(post), etag)
	h.ok(err)
	_, err = other.ProjectFeedPost(h.ctx(), post)
	h.ok(err)
}
