package store

import (
	"math"
	"net/http"
	"testing"
)

// An end is passed although the feed goes on, and not before all that was there is read.
func TestAFeedsEndIsPassedWhileItGrows(t *testing.T) {
	w := newWorld(t)
	ada := w.user("Ada")
	posts := []string{w.post(ada).ID, w.post(ada).ID}
	ranges, err := w.FeedRanges(w.ctx(), PostsContainer)
	w.ok(err)
	end, err := w.FeedEnd(w.ctx(), PostsContainer, ranges[0])
	w.ok(err)
	w.post(ada)
	continuation := ""
	for n := range len(posts) + 2 {
		behind, err := w.IsBehind(w.ctx(), PostsContainer, ranges[0], continuation, end)
		w.ok(err)
		if want := n < len(posts); behind != want {
			t.Errorf("after %d changes: behind is %v", n, behind)
		}
		page, err := w.Changes(w.ctx(), PostsContainer, ranges[0], continuation, 1)
		w.ok(err)
		continuation = page.Continuation
	}
}

func TestAnEndThatTheAccountDoesNotSay(t *testing.T) {
	w := newWorld(t)
	w.post(w.user("Ada"))
	ranges, err := w.FeedRanges(w.ctx(), PostsContainer)
	w.ok(err)
	w.faults.set(func(_ int, request *http.Request, next transporter) (*http.Response, error) {
		response, err := next.Do(request)
		if err == nil {
			response.Header.Del(sessionTokenHeader)
		}
		return response, err
	})
	if end, err := w.FeedEnd(w.ctx(), PostsContainer, ranges[0]); err != nil || end != math.MaxInt64 {
		t.Errorf("the end is %d, %v", end, err)
	}
}
