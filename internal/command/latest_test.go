package command

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// However often somebody asks, it is looked up once a second, and who leaves early takes the answer from nobody.
func TestTheLatestIsLookedUpOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		looks := 0
		l := latest[int]{life: t.Context(), now: time.Now, look: func(ctx context.Context) (int, error) {
			time.Sleep(time.Second)
			looks++
			return looks, ctx.Err()
		}}
		gone, leave := context.WithCancel(t.Context())
		leave()
		if _, err := l.get(gone); !errors.Is(err, context.Canceled) {
			t.Errorf("who has left gets %v", err)
		}
		for range 3 {
			go l.get(t.Context())
			if n, err := l.get(t.Context()); n != 1 || err != nil {
				t.Errorf("got %d, %v", n, err)
			}
		}
		time.Sleep(latestAge)
		if n, err := l.get(t.Context()); n != 2 || err != nil {
			t.Errorf("a second later: %d, %v", n, err)
		}
	})
}

// What never answers keeps nobody waiting for long, and is asked once.
func TestALookupThatNeverEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		never := make(chan struct{})
		var looks atomic.Int64
		l := latest[int]{life: t.Context(), now: time.Now, look: func(context.Context) (int, error) {
			looks.Add(1)
			<-never
			return 7, nil
		}}
		for range 3 {
			begun := time.Now()
			if _, err := l.get(t.Context()); !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) > latestTimeout || looks.Load() != 1 {
				t.Errorf("%v after %v and %d lookups", err, time.Since(begun), looks.Load())
			}
		}
		close(never)
		if n, err := l.get(t.Context()); n != 7 || err != nil {
			t.Errorf("in the end: %d, %v", n, err)
		}
	})
}
