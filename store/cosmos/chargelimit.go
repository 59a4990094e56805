package cosmos

import (
	"context"
	"sync"
	"time"
)

// ChargeLimit bounds what work costs that has time, so that others have what is left of an account's throughput. It may be
// used concurrently, and by several contexts, which then share it.
type ChargeLimit struct {
	// PerSecond is how many RU a second may be spent on average; no limit where 0. What a request costs is known when it was
	// answered, and is paid for then by waiting: each of the requests that are under way at one time may come on top.
	PerSecond float64
	Now       func() time.Time                                 // time.Now where nil
	Sleep     func(ctx context.Context, d time.Duration) error // a timer where nil

	mu    sync.Mutex // guards what follows
	paid  time.Time  // until when all that was spent is paid for
	spent float64
}

// Context gives a context whose requests keep to the limit. A recorder of ctx is told of them as before.
func (l *ChargeLimit) Context(ctx context.Context) context.Context {
	next, _ := ctx.Value(recorderKey{}).(Recorder)
	return WithRecorder(ctx, limited{l, next})
}

// Spent gives the RU that were spent so far.
func (l *ChargeLimit) Spent() float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.spent
}

// spend notes a charge, and gives how long to wait until it is paid for.
func (l *ChargeLimit) spend(charge float64) time.Duration {
	now := time.Now
	if l.Now != nil {
		now = l.Now
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.spent += charge
	if l.PerSecond <= 0 {
		return 0
	}
	at := now()
	if l.paid.Before(at) {
		l.paid = at
	}
	l.paid = l.paid.Add(time.Duration(charge / l.PerSecond * float64(time.Second)))
	return l.paid.Sub(at)
}

// limited is the recorder of a context that keeps to a limit.
type limited struct {
	*ChargeLimit
	next Recorder // nil where there is none
}

// Record implements Recorder. It holds up the request that it is told of.
func (l limited) Record(ctx context.Context, request Request) {
	if l.next != nil {
		l.next.Record(ctx, request)
	}
	wait := l.Sleep
	if wait == nil {
		wait = Sleep
	}
	if d := l.spend(request.Charge); d > 0 {
		_ = wait(ctx, d) // who gives up finds out by the next request
	}
}
