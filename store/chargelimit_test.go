package store

import (
	"context"
	"sync"
	"testing"
	"time"
)

// What is spent is paid for at the rate of the limit, whoever spends it, and an idle time is no credit.
func TestChargeLimit(t *testing.T) {
	clock := &stillClock{now: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)}
	var waited []time.Duration
	limit := &ChargeLimit{PerSecond: 10, Now: clock.Now, Sleep: func(_ context.Context, d time.Duration) error {
		waited = append(waited, d)
		return nil
	}}
	told := 0
	outer := WithRecorder(t.Context(), recorderFunc(func(Request) { told++ }))
	ctx, other := limit.Context(outer), limit.Context(t.Context())
	record := func(ctx context.Context, charge float64) {
		ctx.Value(recorderKey{}).(Recorder).Record(ctx, Request{Charge: charge})
	}
	record(ctx, 5)
	record(other, 1)
	clock.advance(500 * time.Millisecond)
	record(ctx, 1)
	clock.advance(time.Hour)
	record(ctx, 20)
	record(ctx, 0)
	want := []time.Duration{500 * time.Millisecond, 600 * time.Millisecond, 200 * time.Millisecond, 2 * time.Second, 2 * time.Second}
	for i := range want {
		if i >= len(waited) || waited[i] != want[i] {
			t.Fatalf("waited %v, want %v", waited, want)
		}
	}
	if told != 4 || limit.Spent() != 27 {
		t.Errorf("the recorder was told of %d requests, and %v RU were spent", told, limit.Spent())
	}
}

type recorderFunc func(Request)

func (f recorderFunc) Record(_ context.Context, request Request) { f(request) }

// An audit takes at least the time that its charges cost; without a limit it waits for nothing.
func TestAnAuditKeepsToItsLimit(t *testing.T) {
	for _, perSecond := range []float64{0, 50} {
		w := newWorld(t)
		ada := w.user("Ada")
		for range 20 {
			w.ok(w.RepairPost(w.ctx(), w.post(ada).ID))
		}
		clock := &sleptClock{stillClock{now: w.clock.Now()}}
		begun := clock.Now()
		limit := &ChargeLimit{PerSecond: perSecond, Now: clock.Now, Sleep: clock.sleepUntil}
		audited, err := (&Auditing{Store: w.Store, Parallel: 1}).Run(limit.Context(w.ctx()))
		w.ok(err)
		if audited.Posts != 20 || audited.Drifts != 0 || limit.Spent() < 20 {
			t.Errorf("%+v for %v RU", audited, limit.Spent())
		}
		if seconds := clock.Now().Sub(begun).Seconds(); perSecond == 0 && seconds != 0 || perSecond > 0 && seconds < limit.Spent()/perSecond-0.001 {
			t.Errorf("%v RU in %v s, at %v a second", limit.Spent(), seconds, perSecond)
		}
	}
}

// sleptClock is moved by who sleeps.
type sleptClock struct{ stillClock }

func (c *sleptClock) sleepUntil(_ context.Context, d time.Duration) error {
	c.advance(d)
	return nil
}

// Several at once share a limit.
func TestAChargeLimitIsShared(t *testing.T) {
	limit := &ChargeLimit{PerSecond: 1000, Sleep: func(context.Context, time.Duration) error { return nil }}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 100 {
				limit.spend(1)
			}
		})
	}
	group.Wait()
	if limit.Spent() != 800 {
		t.Errorf("%v RU", limit.Spent())
	}
}
