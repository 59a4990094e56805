package projector

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cosmosblog/blog"
)

// testThrottler is a throttler without an account. Its clock advances when it sleeps.
type testThrottler struct {
	*throttler
	clock   time.Time
	pauses  []time.Duration
	onPause func() // called in each pause, if not nil

	throttles int64
	wait      time.Duration
}

func newTestThrottler(parallel int) *testThrottler {
	t := &testThrottler{clock: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)}
	t.throttler = newThrottler(Options{Parallel: parallel, Now: func() time.Time { return t.clock }})
	t.throttler.throttles = func() (int64, time.Duration) { return t.throttles, t.wait }
	t.throttler.sleep = func(ctx context.Context, d time.Duration) error {
		t.pauses = append(t.pauses, d)
		t.clock = t.clock.Add(d)
		if t.onPause != nil {
			t.onPause()
		}
		return ctx.Err()
	}
	return t
}

// throttle simulates a throttled request of another part of the process.
func (t *testThrottler) throttle(wait time.Duration) {
	t.throttles++
	t.wait = wait
}

// step simulates a successful step.
func (t *testThrottler) step() error {
	t.clock = t.clock.Add(10 * time.Millisecond)
	return nil
}

func (t *testThrottler) succeed(tb testing.TB, n int) {
	tb.Helper()
	for range n {
		if err := t.do(tb.Context(), t.step); err != nil {
			tb.Fatal(err)
		}
	}
}

// A throttled request halves the limit, and causes a pause longer than the account asks for, once
// for all throttled requests until its end. Successes restore the limit, and raise it no further.
func TestThrottlerSlowsDownAndRecovers(t *testing.T) {
	p := newTestThrottler(8)
	p.succeed(t, 10)
	if len(p.pauses) > 0 || p.limit != 8 {
		t.Errorf("with enough throughput: pauses %v, limit %v", p.pauses, p.limit)
	}
	p.throttle(time.Second)
	p.throttle(2 * time.Second)
	p.succeed(t, 1)
	if len(p.pauses) != 1 || p.pauses[0] != 3*time.Second || int(p.limit) != 4 {
		t.Errorf("after throttled requests: pauses %v, limit %v", p.pauses, p.limit)
	}
	for range 20 {
		p.throttle(100 * time.Millisecond)
		p.succeed(t, 1)
	}
	if p.limit < minThrottle || p.limit > 2*minThrottle {
		t.Errorf("after many throttled requests: limit %v", p.limit)
	}
	begun := p.clock
	p.succeed(t, 16)
	if share := 16 * 10 * time.Millisecond.Seconds() / p.clock.Sub(begun).Seconds(); share > 2.5*minThrottle {
		t.Errorf("steps run for %.2f of the time", share)
	}
	p.succeed(t, 1000)
	if p.limit != 8 {
		t.Errorf("with enough throughput again: limit %v", p.limit)
	}
}

// An account that never stops throttling slows steps down, but does not delay them without limit.
func TestThrottlerContinuesUnderConstantThrottling(t *testing.T) {
	p := newTestThrottler(8)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p.onPause = func() {
		p.throttle(time.Second)
		if len(p.pauses) > 100 {
			cancel()
		}
	}
	p.throttle(time.Second)
	for range 20 {
		if err := p.do(ctx, p.step); err != nil {
			t.Fatalf("no step after %d pauses: %v", len(p.pauses), err)
		}
	}
	if len(p.pauses) < 20 || p.limit > 2*minThrottle {
		t.Errorf("pauses %v, limit %v", p.pauses, p.limit)
	}
}

// A throttled step is repeated until it is not throttled. Any other error is returned.
func TestThrottlerRepeatsThrottledSteps(t *testing.T) {
	p := newTestThrottler(2)
	tries, other := 0, errors.New("another error")
	err := p.do(t.Context(), func() error {
		if tries++; tries < 50 {
			return &blog.Error{Code: blog.Throttled}
		}
		return other
	})
	if err != other || tries != 50 {
		t.Errorf("%d tries, error %v", tries, err)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	err = p.do(canceled, func() error { return &blog.Error{Code: blog.Throttled} })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled caller: %v", err)
	}
}

// Callers that are canceled before their step starts do not count as running.
func TestThrottlerIgnoresCanceledCallers(t *testing.T) {
	p := newTestThrottler(2)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for range 5 {
		err := p.do(canceled, func() error { t.Error("a step ran"); return nil })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("a canceled caller: %v", err)
		}
	}
	if p.running != 0 {
		t.Fatalf("%d steps are running", p.running)
	}
	p.succeed(t, 1)
}

// No more steps run at a time than the limit allows.
func TestThrottlerLimitsConcurrency(t *testing.T) {
	p := newTestThrottler(3)
	var mu sync.Mutex
	running, most := 0, 0
	count := func(n int) {
		mu.Lock()
		defer mu.Unlock()
		running += n
		most = max(most, running)
	}
	var group sync.WaitGroup
	for range 100 {
		group.Go(func() {
			_ = p.do(t.Context(), func() error {
				count(1)
				defer count(-1)
				return nil
			})
		})
	}
	group.Wait()
	if most > 3 || p.running != 0 {
		t.Errorf("%d steps at a time, %d at the end", most, p.running)
	}
}

// Steps begin in the order in which their callers came. A caller that comes again is the last.
func TestThrottlerTakesTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newTestThrottler(1)
		var begun []int
		var group sync.WaitGroup
		for i := range 10 {
			group.Go(func() {
				for round := range 3 {
					_ = p.do(t.Context(), func() error {
						begun = append(begun, 10*round+i)
						time.Sleep(time.Second)
						return nil
					})
				}
			})
			synctest.Wait()
		}
		group.Wait()
		if len(begun) != 30 || !slices.IsSorted(begun) {
			t.Errorf("the steps began in the order %v", begun)
		}
	})
}
