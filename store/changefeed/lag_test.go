package changefeed_test

import (
	"net/http"
	"testing"

	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/storetest"
)

func (w *world) onlyRange(container string) changefeed.FeedRange {
	w.T.Helper()
	ranges, err := w.FeedRanges(w.Ctx(), container)
	w.OK(err)
	if len(ranges) != 1 {
		w.T.Fatalf("%s has %d feed ranges", container, len(ranges))
	}
	return ranges[0]
}

func TestALagIsWhatComesAfterAPosition(t *testing.T) {
	w := newWorld(t)
	r := w.onlyRange(schema.Posts)
	empty, err := w.FeedLag(w.Ctx(), schema.Posts, r, "")
	w.OK(err)
	if empty != (changefeed.FeedLag{}) {
		t.Errorf("of an empty feed: %+v", empty)
	}
	ada := w.AddUser("Ada")
	for range 3 {
		w.AddPost(ada)
	}
	continuation := ""
	for left := int64(3); left >= 0; left-- {
		lag, err := w.FeedLag(w.Ctx(), schema.Posts, r, continuation)
		w.OK(err)
		page, err := w.Changes(w.Ctx(), schema.Posts, r, continuation, 1)
		w.OK(err)
		want := changefeed.FeedLag{Changes: left}
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
	ada := w.AddUser("Ada")
	w.AddPost(ada)
	w.AddPost(ada)
	w.Faults.Set(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		response, err := next.Do(request)
		if err == nil {
			response.Header.Del(cosmos.SessionTokenHeader)
		}
		return response, err
	})
	lag, err := w.FeedLag(w.Ctx(), schema.Posts, w.onlyRange(schema.Posts), "")
	w.OK(err)
	if lag.Changes < 1 || lag.Since.IsZero() {
		t.Errorf("got %+v", lag)
	}
}
