package cosmos_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"cosmosblog/proof/storetest"
	"cosmosblog/store/cosmos"
)

// TestChargeLimit checks that charges of all contexts are paid for at the limit's rate, and that
// idle time earns no credit.
func TestChargeLimit(t *testing.T) {
	clock := storetest.NewStillClock(time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC))
	var waited []time.Duration
	limit := &cosmos.ChargeLimit{PerSecond: 10, Now: clock.Now, Sleep: func(_ context.Context, d time.Duration) error {
		waited = append(waited, d)
		return nil
	}}
	recorded := 0
	outer := cosmos.WithRecorder(t.Context(), recorderFunc(func(cosmos.Request) { recorded++ }))
	ctx, other := limit.Context(outer), limit.Context(t.Context())
	record := func(ctx context.Context, charge float64) {
		cosmos.RecorderOf(ctx).Record(ctx, cosmos.Request{Charge: charge})
	}
	record(ctx, 5)
	record(other, 1)
	clock.Advance(500 * time.Millisecond)
	record(ctx, 1)
	clock.Advance(time.Hour)
	record(ctx, 20)
	record(ctx, 0)
	want := []time.Duration{500 * time.Millisecond, 600 * time.Millisecond, 200 * time.Millisecond, time.Second, time.Second, time.Second, time.Second}
	for i := range want {
		if i >= len(waited) || waited[i] != want[i] {
			t.Fatalf("waited %v, want %v", waited, want)
		}
	}
	if recorded != 4 || limit.Spent() != 27 {
		t.Errorf("%d requests recorded and %v RU spent, want 4 and 27", recorded, limit.Spent())
	}
}

type recorderFunc func(cosmos.Request)

func (f recorderFunc) Record(_ context.Context, request cosmos.Request) { f(request) }

// TestChargeLimitConcurrently checks that concurrent users share a limit.
func TestChargeLimitConcurrently(t *testing.T) {
	limit := &cosmos.ChargeLimit{PerSecond: 1000, Sleep: func(context.Context, time.Duration) error { return nil }}
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
