package projector_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cosmosblog/projector"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/schema"
)

// lags returns the lag of each container, summed over its feed ranges.
func (w *world) lags(held ...changefeed.Lease) map[string]int64 {
	w.Helper()
	lags, err := projector.Lags(w.Context(), w.store.Feeds, held...)
	if err != nil {
		w.Fatal(err)
	}
	changes := map[string]int64{}
	for _, lag := range lags {
		if lag.Since.IsZero() != (lag.Changes == 0) || (lag.For(time.Now()) > 0) && lag.Changes == 0 {
			w.Errorf("%+v", lag)
		}
		changes[lag.Container] += lag.Changes
	}
	return changes
}

// Before any projector has run, all changes count as lag. It grows with each change, and falls
// to zero after they are projected.
func TestLagGrowsUntilProjected(t *testing.T) {
	for _, ranges := range []int{1, 4} {
		t.Run(fmt.Sprint(ranges, " ranges"), func(t *testing.T) {
			w := newWorldOf(t, ranges)
			anna := w.user()
			for _, posts := range []int{8, 16} {
				w.posts(anna, 8)
				if got := w.lags()[schema.Posts]; got != int64(posts) {
					t.Errorf("without a projector: %d changes behind, want %d", got, posts)
				}
			}
			w.settle()
			if got := w.lags(); got[schema.Posts] != 0 || got[schema.Users] != 0 {
				t.Errorf("after projecting: %v", got)
			}
			w.posts(anna, 3)
			if got := w.lags()[schema.Posts]; got != 3 {
				t.Errorf("after more posts: %d", got)
			}
		})
	}
}

// The lag of feeds held by this process counts from the projected changes, before the checkpoint is
// written. That of users is not written at once after a page of copies only.
func TestLagOfHeldFeeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		m := w.members(1, w.wakeOnly, func(o *projector.Options) { o.TakeOver = true })[0]
		synctest.Wait()
		w.post(w.user())
		advanceTime(100 * time.Millisecond)
		if held, checkpoint := w.lags(m.Feeds()...), w.lags(); held[schema.Users] != 0 || checkpoint[schema.Users] == 0 || checkpoint[schema.Posts] != 0 {
			t.Errorf("%v changes behind by the held feeds, %v by the checkpoint", held, checkpoint)
		}
		lags, err := projector.Lags(t.Context(), w.store.Feeds, m.Feeds()...)
		if err != nil || len(lags) != 2 || !lags[0].Held || !lags[1].Held || lags[0].Container != schema.Posts {
			t.Errorf("got %+v, %v", lags, err)
		}
		m.stop()
		if got := w.lags()[schema.Users]; got != 0 {
			t.Errorf("%d changes behind after the release", got)
		}
	})
}

// The lag of a split range is correct before its lease is replaced, during the replacement and
// afterwards.
func TestLagOfSplitRange(t *testing.T) {
	w := newWorld(t)
	anna := w.user()
	w.posts(anna, 8)
	w.settle()
	whole := w.leasesOf(schema.Posts)[0]
	w.split(schema.Posts, 0)
	if got := w.lags()[schema.Posts]; got != 0 {
		t.Errorf("%d changes behind after a split", got)
	}
	w.posts(anna, 8)
	if got := w.lags()[schema.Posts]; got < 8 || got > 2*8 { // the parts share one sequence
		t.Errorf("%d changes behind before the lease is replaced", got)
	}
	w.settle()
	if got := w.lags()[schema.Posts]; got != 0 {
		t.Errorf("%d changes behind at the end", got)
	}
	w.wantLeases(schema.Posts, 2)

	// During the replacement the lease still exists, and its successors are further.
	if err := w.store.CreateLease(t.Context(), whole); err != nil {
		t.Fatal(err)
	}
	if lags, err := projector.Lags(t.Context(), w.store.Feeds); err != nil || len(lags) != 3 || w.lags()[schema.Posts] != 0 {
		t.Errorf("got %+v, %v", lags, err)
	}
}

// The lag of a recreated container counts all of its changes.
func TestLagOfRecreatedContainer(t *testing.T) {
	w := newWorld(t)
	anna := w.user()
	w.posts(anna, 5)
	w.settle()
	w.recreate(schema.Posts)
	w.posts(anna, 2)
	if got := w.lags()[schema.Posts]; got != 2 {
		t.Errorf("%d changes behind", got)
	}
}

// A lag that cannot be read is an error, and the other lags are returned.
func TestUnreadableLag(t *testing.T) {
	w := newWorld(t)
	w.post(w.user())
	wire, s := w.wired()
	wire.refuse = func(request *http.Request) int {
		if request.Header.Get("A-IM") != "" && containerOf(request) == schema.Posts {
			return http.StatusForbidden
		}
		return 0
	}
	lags, err := projector.Lags(context.Background(), s.Feeds)
	if err == nil || !strings.Contains(err.Error(), "posts -FF") || len(lags) != 1 || lags[0].Container != schema.Users {
		t.Errorf("got %+v, %v", lags, err)
	}
}
