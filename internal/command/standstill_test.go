package command

import (
	"testing"
	"time"

	"cosmosblog/projector"
	"cosmosblog/store"
)

// A post that changes every second is the only change that its feed tells, and is a second old. Where nobody projects it, the
// lag grows all the same; where it is projected, or nothing is left, it does not.
func TestOfAPostThatChangesAllTheTimeTheLagGrows(t *testing.T) {
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	s := standstills{}
	look := func(position string, changes int64) time.Duration {
		now = now.Add(time.Second)
		lags := []projector.Lag{{Container: store.PostsContainer, Position: position, FeedLag: store.FeedLag{Changes: changes, Since: now.Add(-time.Second)}}}
		if changes == 0 {
			lags[0].Since = time.Time{}
		}
		s.note(lags, now)
		return lags[0].For(now)
	}
	for i, want := range []time.Duration{1, 1, 2, 3} {
		if got := look("one", 1); got != want*time.Second {
			t.Errorf("at look %d it is %v, want %d s", i, got, want)
		}
	}
	if got := look("two", 1); got != time.Second {
		t.Errorf("when something was projected it is %v", got)
	}
	look("two", 0)
	for range 2 {
		if got := look("two", 1); got != time.Second {
			t.Errorf("after nothing was left it is %v", got)
		}
	}
}
