package engine

import (
	"fmt"
	"testing"
	"time"
)

func TestSyncInterval(t *testing.T) {
	for waiting, want := range map[int64]time.Duration{
		0: 0, 1: 0, minWaiting: 0, minWaiting + 1: (minWaiting + 1) * delayPerCommit, 1 << 40: maxSyncDelay,
	} {
		if got := syncInterval(waiting); got != want {
			t.Errorf("sync interval with %d waiting: %v, want %v", waiting, got, want)
		}
	}
}

// TestWaitingCountReturnsToZero also protects single writers: if each write left the count one
// too high, the log would eventually delay them.
func TestWaitingCountReturnsToZero(t *testing.T) {
	a := newBlog(t, Options{Dir: t.TempDir()})
	for i := range 2 * minWaiting {
		a.create("p", fmt.Sprintf(`{"id":"a%d","postId":"p"}`, i))
	}
	if waiting := a.waiting.Load(); waiting != 0 {
		t.Errorf("%d transactions still wait for the disk after the last response", waiting)
	}
}
