package command

import (
	"context"
	"sync"
	"time"

	"cosmosblog/projector"
)

// feedLags knows how far the views are behind. It reads that at most once in lagAge, however often it is asked: it costs
// requests, and everybody may ask. It may be used concurrently.
type feedLags struct {
	read func(context.Context) ([]projector.Lag, error)
	now  func() time.Time

	mu   sync.Mutex // held while they are read
	asOf time.Time
	lags []projector.Lag
	err  error
}

// How old an answer may be, and how long reading it anew may take.
const (
	lagAge     = time.Second
	lagTimeout = 4 * time.Second
)

// latest gives the lags of all feed ranges that could be read, and why others could not. Who asks while they are read
// gets the same answer; it does not end with the one who asked first.
func (f *feedLags) latest(ctx context.Context) ([]projector.Lag, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.asOf.IsZero() && f.now().Sub(f.asOf) < lagAge {
		return f.lags, f.err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lagTimeout)
	defer cancel()
	f.lags, f.err = f.read(ctx)
	f.asOf = f.now()
	return f.lags, f.err
}
