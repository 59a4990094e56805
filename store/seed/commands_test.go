//go:build ci

package seed_test

import (
	"testing"

	"cosmosblog/store/cosmos"
	"cosmosblog/store/views"
)

// TestWriteEqualsCommands writes a set once by commands and the projector, and once in batches
// with the views, and compares all items. Some posts are too old for the feed.
func TestWriteEqualsCommands(t *testing.T) {
	t.Parallel()
	set, number := newFeedSet()
	if posts, _ := set.Size(); posts <= views.FeedCapacity {
		t.Fatalf("%d posts do not fill the feed", posts)
	}
	byCommands, inBatches := newDatabase(t), newDatabase(t)
	db := byCommands.runCommands(set, number)
	byCommands.settle(db)
	s := inBatches.open(cosmos.Options{})
	inBatches.write(s, set)
	want := byCommands.items()
	requireEqual(t, inBatches.items(), want)

	inBatches.settle(s) // the projector changes nothing
	requireEqual(t, inBatches.items(), want)
	inBatches.write(s, set) // and neither does a second run
	requireEqual(t, inBatches.items(), want)
}
