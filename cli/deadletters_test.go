package cli

import (
	"strings"
	"testing"

	"cosmosblog/cli/datafolder"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/schema"
)

// A retry of an item that no longer exists succeeds, and its row reports that the item is
// missing. A letter of an unknown container is left.
func TestRetryOfDeletedItems(t *testing.T) {
	t.Parallel()
	s, ctx := openInMemory(t), t.Context()
	for _, letter := range []changefeed.DeadLetter{
		{Projection: "feed", Container: schema.Posts, PartitionKey: "p_gone", ItemID: "p_gone"},
		{Container: schema.Posts, ItemID: "stray"},
		{Projection: "deletion", Container: schema.Users, PartitionKey: "u_gone", ItemID: "u_gone"},
		{Projection: "old", Container: "attic", PartitionKey: "x", ItemID: "x"},
	} {
		if err := s.WriteDeadLetter(ctx, letter); err != nil {
			t.Fatal(err)
		}
	}
	letters, err := s.DeadLetters(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var stdout strings.Builder
	err = retryLetters(ctx, quiet(&stdout), &datafolder.Database{DB: s.DB}, letters)
	if err == nil || err.Error() != "3 of 4 dead letters are done, and 1 are left" {
		t.Errorf("%v", err)
	}
	done := strings.Count(stdout.String(), "done: the item no longer exists")
	if done != 3 || !strings.Contains(stdout.String(), `the container "attic", which does not exist`) {
		t.Errorf("printed %s", stdout.String())
	}
}
