package cosmos

import (
	"context"
	"sync"
	"time"
)

// ChargeLimit limits the request charge of background work. The rest of the account's throughput is
// left to foreground requests. It may be used concurrently, and shared by several contexts.
type ChargeLimit struct {
	// PerSecond is the number of RU that may be spent per second on average; 0 means no limit. The
	// charge of a request is known only from its response, whose return is then delayed. Requests in
	// flight can therefore exceed the limit for a moment.
	PerSecond float64

	mu    sync.Mutex // guards the fields below
	paid  time.Time  // time until which the throughput has been used up
	spent float64
}

// Context returns a context whose requests keep to the limit. A Recorder of ctx still records
// them.
func (l *ChargeLimit) Context(ctx context.Context) context.Context {
	next := callOf(ctx).recorder
	return WithRecorder(ctx, limitingRecorder{l, next})
}

// Spent returns the RU spent so far.
func (l *ChargeLimit) Spent() float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.spent
}

// spend adds a charge, and returns the wait until all charges fit into the limit.
func (l *ChargeLimit) spend(charge float64) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.spent += charge
	if l.PerSecond <= 0 {
		return 0
	}
	at := time.Now()
	if l.paid.Before(at) {
		l.paid = at
	}
	l.paid = l.paid.Add(time.Duration(charge / l.PerSecond * float64(time.Second)))
	return l.paid.Sub(at)
}

// maxLimitPause is the longest pause without a check of the context's fence. A projector cancels
// work that has not asked for that for some seconds.
const maxLimitPause = time.Second

// limitingRecorder is the Recorder of a context with a limit.
type limitingRecorder struct {
	*ChargeLimit
	next Recorder // nil if there is none
}

// Record implements Recorder. It delays the return of the request by the wait that the limit
// requires.
func (l limitingRecorder) Record(ctx context.Context, request Request) {
	if l.next != nil {
		l.next.Record(ctx, request)
	}
	// If ctx is done, or its fence fails, the next request reports it.
	for d := l.spend(request.Charge); d > 0 && ctx.Err() == nil && checkFence(ctx) == nil; d -= maxLimitPause {
		_ = Sleep(ctx, min(d, maxLimitPause))
	}
}
