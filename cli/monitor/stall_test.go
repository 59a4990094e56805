package monitor

import (
	"testing"
	"time"

	"cosmosblog/projector"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/schema"
)

// A post that changes every second is the only change in its feed, and always a second old. Its
// lag still grows while it is not projected. The lag does not grow if the feed advances or has
// no changes left.
func TestLagGrowsForAPostThatChangesAllTheTime(t *testing.T) {
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	s := stalls{}
	look := func(position string, changes int64) time.Duration {
		now = now.Add(time.Second)
		lags := []projector.Lag{{
			Container: schema.Posts,
			Position:  position,
			FeedLag:   changefeed.FeedLag{Changes: changes, Since: now.Add(-time.Second)},
		}}
		if changes == 0 {
			lags[0].Since = time.Time{}
		}
		s.note(lags, now)
		return lags[0].For(now)
	}
	for i, want := range []time.Duration{1, 1, 2, 3} {
		if got := look("one", 1); got != want*time.Second {
			t.Errorf("lookup %d: %v, want %d s", i, got, want)
		}
	}
	if got := look("two", 1); got != time.Second {
		t.Errorf("after a change was projected: %v", got)
	}
	look("two", 0)
	for range 2 {
		if got := look("two", 1); got != time.Second {
			t.Errorf("after all changes were projected: %v", got)
		}
	}
}
