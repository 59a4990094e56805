package follow_test

import (
	"errors"
	"testing"
	"time"

	"cosmosblog/store/follow"
)

// TestCheckAges has positions among all items, which have no date, beside that of a feed.
func TestCheckAges(t *testing.T) {
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	for age, want := range map[time.Duration]string{
		6 * 24 * time.Hour:   "",
		6*24*time.Hour + 1:   "the changes since 2026-11-14T08:59:59Z are read too late: deleted items are visible for seven days only",
		-time.Hour:           "",
		-time.Hour - 1:       "the last run was at 2026-11-20T10:00:00Z, which is in the future",
		-30 * 24 * time.Hour: "the last run was at 2026-12-20T09:00:00Z, which is in the future",
	} {
		all, feed := follow.AllItems("posts"), follow.Feed{Container: "posts", FeedRange: follow.FeedRange{Max: "FF"}}
		err := follow.CheckAges([]follow.Position{{Feed: all}, {Feed: feed, Since: now.Add(-age)}}, now)
		old, isOld := errors.AsType[*follow.AgeError](err)
		if isOld != (want != "") || isOld && (old.Error() != want || old.IsLate != (age > 0)) {
			t.Errorf("age %s: %v", age, err)
		}
	}
}
