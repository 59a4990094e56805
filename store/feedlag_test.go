package store

import (
	"net/http"
	"testing"
)

func (w *world) onlyRange(container string) FeedRange {
	w.t.Helper()
	ranges, err := w.FeedRanges(w.ctx(), container)
	w.ok(err)
	if len(ranges) != 1 {
		w.t.Fatalf("%s has %d feed ranges", container, len(ranges))
	}
	return ranges[0]
}

func TestALagIsWhatComesAfterAPosition(t *testing.T) {
	w := newWorld(t)
	r := w.onlyRange(PostsContainer)
	empty, err := w.FeedLag(w.ctx(), PostsContainer, r, "")
	w.ok(err)
	if empty != (FeedLag{}) {
		t.Errorf("of an empty feed: %+v", empty)
	}
	ada := w.user("Ada")
	for range 3 {
		w.post(ada)
	}
	continuation := ""
	for left := int64(3); left >= 0; left-- {
		lag, err := w.FeedLag(w.ctx(), PostsContainer, r, continuation)
		w.ok(err)
		page, err := w.Changes(w.ctx(), PostsContainer, r, continuation, 1)
		w.ok(err)
		want := FeedLag{Changes: left}
		if left > 0 {
			want.Since = page.Changes[0].Time
		}
		if lag != want {
			t.Errorf("with %d changes left: %+v, want %+v", left, lag, want)
		}
		continuation = page.Continuation
	}
}

// What is not known is never called nothing.
func TestALagWhereTheAccountDoesNotSayTheEnd(t *testing.T) {
	w := newWorld(t)
	ada := w.user("Ada")
	w.post(ada)
	w.post(ada)
	w.faults.set(func(_ int, request *http.Request, next transporter) (*http.Response, error) {
		response, err := next.Do(request)
		if err == nil {
			response.Header.Del(sessionTokenHeader)
		}
		return response, err
	})
	lag, err := w.FeedLag(w.ctx(), PostsContainer, w.onlyRange(PostsContainer), "")
	w.ok(err)
	if lag.Changes < 1 || lag.Since.IsZero() {
		t.Errorf("got %+v", lag)
	}
}
