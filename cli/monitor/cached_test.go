package monitor

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Callers share one lookup a second. If a caller is cancelled, the lookup continues for the
// others.
func TestLookupsAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		looks := 0
		c := cached[int]{life: t.Context(), now: time.Now, age: cachedAge, look: func(ctx context.Context) (int, error) {
			time.Sleep(time.Second)
			looks++
			return looks, ctx.Err()
		}}
		gone, leave := context.WithCancel(t.Context())
		leave()
		if _, err := c.get(gone); !errors.Is(err, context.Canceled) {
			t.Errorf("the cancelled caller got %v", err)
		}
		for range 3 {
			go c.get(t.Context())
			if n, err := c.get(t.Context()); n != 1 || err != nil {
				t.Errorf("got %d, %v", n, err)
			}
		}
		time.Sleep(cachedAge)
		if n, err := c.get(t.Context()); n != 2 || err != nil {
			t.Errorf("a second later: %d, %v", n, err)
		}
	})
}

// If a lookup does not end, callers time out and do not start another one.
func TestLookupThatDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		never := make(chan struct{})
		var looks atomic.Int64
		c := cached[int]{life: t.Context(), now: time.Now, age: cachedAge, look: func(context.Context) (int, error) {
			looks.Add(1)
			<-never
			return 7, nil
		}}
		for range 3 {
			begun := time.Now()
			_, err := c.get(t.Context())
			isInTime := time.Since(begun) <= lookupTimeout
			if !errors.Is(err, context.DeadlineExceeded) || !isInTime || looks.Load() != 1 {
				t.Errorf("%v after %v and %d lookups", err, time.Since(begun), looks.Load())
			}
		}
		close(never)
		if n, err := c.get(t.Context()); n != 7 || err != nil {
			t.Errorf("after the lookup ended: %d, %v", n, err)
		}
	})
}
