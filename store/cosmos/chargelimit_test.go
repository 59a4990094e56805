package cosmos_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cosmosblog/store/cosmos"
)

// TestChargeLimit checks that charges of all contexts are paid for at the limit's rate, and that
// idle time earns no credit.
func TestChargeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit, begun := &cosmos.ChargeLimit{PerSecond: 10}, time.Now()
		recorded := 0
		outer := cosmos.WithRecorder(t.Context(), recorderFunc(func(cosmos.Request) { recorded++ }))
		ctx, other := limit.Context(outer), limit.Context(t.Context())
		endsAt := func(want time.Duration, ctx context.Context, charge float64) {
			t.Helper()
			cosmos.RecorderOf(ctx).Record(ctx, cosmos.Request{Charge: charge})
			if at := time.Since(begun); at != want {
				t.Errorf("a request for %v RU ended at %v, want %v", charge, at, want)
			}
		}
		first := make(chan struct{})
		go func() { endsAt(500*time.Millisecond, ctx, 5); close(first) }()
		synctest.Wait()
		endsAt(600*time.Millisecond, other, 1)
		<-first
		endsAt(700*time.Millisecond, ctx, 1)
		time.Sleep(time.Hour)
		endsAt(time.Hour+2700*time.Millisecond, ctx, 20)
		endsAt(time.Hour+2700*time.Millisecond, ctx, 0)
		if recorded != 4 || limit.Spent() != 27 {
			t.Errorf("%d requests recorded and %v RU spent, want 4 and 27", recorded, limit.Spent())
		}
	})
}

type recorderFunc func(cosmos.Request)

func (f recorderFunc) Record(_ context.Context, request cosmos.Request) { f(request) }

// TestChargeLimitConcurrently checks that concurrent users share a limit.
func TestChargeLimitConcurrently(t *testing.T) {
	limit := &cosmos.ChargeLimit{PerSecond: 1000}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 100 {
				limit.Spend(1)
			}
		})
	}
	group.Wait()
	if limit.Spent() != 800 {
		t.Errorf("%v RU spent, want 800", limit.Spent())
	}
}
