package embedded

import (
	"fmt"
	"testing"
	"time"
)

func TestSyncInterval(t *testing.T) {
	for waiting, want := range map[int64]time.Duration{
		0: 0, 1: 0, fewWaiting: 0, fewWaiting + 1: (fewWaiting + 1) * oneCommits, 1 << 40: longestWait,
	} {
		if got := syncInterval(waiting); got != want {
			t.Errorf("%d wait: the log waits %v between two syncs, want %v", waiting, got, want)
		}
	}
}

// TestNobodyWaitsAfterwards also holds the count of those who wait to those who do: one too many for each write, and one
// writer alone would be held up in the end.
func TestNobodyWaitsAfterwards(t *testing.T) {
	a := newBlog(t, Options{Dir: t.TempDir()})
	for i := range 2 * fewWaiting {
		a.create("p", fmt.Sprintf(`{"id":"a%d","postId":"p"}`, i))
	}
	if waiting := a.waiting.Load(); waiting != 0 {
		t.Errorf("%d transactions wait for the disk after the last write was answered", waiting)
	}
}
