package changefeed_test

import (
	"net/http"
	"testing"
	"time"

	"cosmosblog/proof/storetest"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/follow"
	"cosmosblog/store/schema"
)

// onlyRange returns the feed range of a container that has only one.
func (w *world) onlyRange(container string) follow.FeedRange {
	w.T.Helper()
	ranges, err := w.FeedRanges(w.Ctx(), container)
	w.OK(err)
	if len(ranges) != 1 {
		w.T.Fatalf("%s has %d feed ranges", container, len(ranges))
	}
	return ranges[0]
}

func TestFeedLag(t *testing.T) {
	w := newWorld(t)
	r := w.onlyRange(schema.Posts)
	empty, err := w.FeedLag(w.Ctx(), schema.Posts, r, "")
	w.OK(err)
	if empty != (changefeed.FeedLag{}) {
		t.Errorf("the lag of an empty change feed: %+v", empty)
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
			want.Since = time.Unix(w.Clock.Now().Unix(), 0)
		}
		if lag != want {
			t.Errorf("with %d changes left: lag %+v, want %+v", left, lag, want)
		}
		continuation = page.Continuation
	}
}

// TestFeedLagWithoutSessionToken checks that a lag of unknown size is not reported as no lag.
func TestFeedLagWithoutSessionToken(t *testing.T) {
	w := newWorld(t)
	ada := w.AddUser("Ada")
	w.AddPost(ada)
	w.AddPost(ada)
	w.Wire.Inject(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		response, err := next.Do(request)
		if err == nil {
			response.Header.Del(cosmos.SessionTokenHeader)
		}
		return response, err
	})
	lag, err := w.FeedLag(w.Ctx(), schema.Posts, w.onlyRange(schema.Posts), "")
	w.OK(err)
	if lag.Changes < 1 || lag.Since.IsZero() {
		t.Errorf("the lag is %+v, want at least one change", lag)
	}
}
