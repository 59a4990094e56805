package projector

import (
	"context"
	"errors"
	"testing"
	"time"
)

// What waits when a projector stops ends at once, without another step.
func TestWaitingStepsStop(t *testing.T) {
	step := func() error {
		t.Error("a step began after the projector was stopped")
		return nil
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	waiting := map[string]func() error{
		"a removal behind a refill": func() error {
			gate := newRefillGate()
			if err := gate.slots.Acquire(t.Context(), maxRemovals); err != nil {
				return err
			}
			return gate.remove(stopped, step, step)
		},
		"a refill behind a removal": func() error {
			gate := newRefillGate()
			if err := gate.slots.Acquire(t.Context(), 1); err != nil {
				return err
			}
			return gate.refill(stopped, step)
		},
		"a removal behind a refill that fails": func() error {
			gate := newRefillGate()
			gate.removed.Store(maxRemovals)
			return gate.remove(t.Context(), step, func() error { return context.Canceled })
		},
		"a step behind a pause": func() error {
			ctx, stop := context.WithCancel(t.Context())
			throttler := newTestThrottler(4)
			throttler.onPause = stop
			throttler.throttle(time.Second)
			return throttler.do(ctx, step)
		},
		"a step behind others": func() error {
			throttler := newTestThrottler(1)
			if err := throttler.enter(t.Context()); err != nil {
				return err
			}
			ctx, stop := context.WithCancel(t.Context())
			time.AfterFunc(time.Millisecond, stop)
			return throttler.do(ctx, step)
		},
	}
	for name, wait := range waiting {
		t.Run(name, func(t *testing.T) {
			if err := wait(); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want %v", err, context.Canceled)
			}
		})
	}
}

// A refill that another removal made meanwhile is not made again.
func TestRefillOnce(t *testing.T) {
	err := newRefillGate().refill(t.Context(), func() error {
		t.Error("the feed was refilled twice")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
