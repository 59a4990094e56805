package views

import (
	"context"
	"sync"
	"time"

	"cosmosblog/store/cosmos"
)

// Throttler is how fast work goes on that can wait: what renamed and deleted users leave to do. As long as there is throughput,
// it does as much at a time as it may. When the account refuses anything for want of it, whoever's request of this Store
// that was, it waits for longer than that one does, and goes on with half as much; each success brings a little back. It
// may be used concurrently, and is to be shared by all work of the kind.
type Throttler struct {
	throttles func() (count int64, wait time.Duration) // cosmos.DB.Throttles
	most      float64
	now       func() time.Time
	sleep     func(ctx context.Context, d time.Duration) error

	mu      sync.Mutex    // held while what follows is read or changed
	limit   float64       // how much is done at a time; below 1, for which share of the time something is done
	running int           // how much is being done
	seen    int64         // refusals that were taken notice of
	until   time.Time     // nothing begins before
	short   time.Time     // the end of the pause after the last refusal
	freed   chan struct{} // closed when something ended
}

const (
	// leastPace is the share of the time that is worked in at least: whatever else is going on, the work comes to an end.
	leastPace = 1.0 / 16

	// paceGrowth is what a success brings back of what may be done at a time; where that is less than one thing, as much of
	// that. A refusal takes the successes of a second or two to make good.
	paceGrowth = 1.0 / 32

	// longestPause bounds what the account asks to wait, so that nobody takes a worker that pauses for one that hangs.
	longestPause = 5 * time.Second
)

// NewThrottler makes a pace by which at most so many things are done at a time.
func (s *Views) NewThrottler(most int) *Throttler {
	p := newThrottler(most)
	p.now, p.sleep, p.throttles = s.db.Now, s.db.Sleep, s.db.Throttles
	return p
}

func newThrottler(most int) *Throttler {
	return &Throttler{most: float64(most), limit: float64(most), freed: make(chan struct{})}
}

// do takes a step when it may, and again for as long as the account refuses it for want of throughput. The step must be
// safe to take again. Errors: the step's; ctx is done.
func (p *Throttler) do(ctx context.Context, step func() error) error {
	for {
		if err := p.enter(ctx); err != nil {
			return err
		}
		begun := p.now()
		err := step()
		p.leave(begun, err)
		if !cosmos.IsThrottled(err) {
			return err
		}
	}
}

// enter waits until the pause is over and there is room.
func (p *Throttler) enter(ctx context.Context) error {
	for waited := (time.Time{}); ctx.Err() == nil; {
		freed, until, entered := p.tryEnter(waited)
		switch {
		case entered:
			return nil
		case freed == nil:
			if err := p.sleep(ctx, until.Sub(p.now())); err != nil {
				return err
			}
			waited = until
		default:
			select {
			case <-freed:
			case <-ctx.Done():
			}
		}
	}
	return ctx.Err()
}

// tryEnter gives what to wait for where nothing may begin yet: a channel that is closed when something ended, or the end
// of a pause other than the one that was waited for. What was refused in that one is taken notice of when what begins now
// ends: refusals that do not end would hold it up for ever.
func (p *Throttler) tryEnter(waited time.Time) (freed <-chan struct{}, until time.Time, entered bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if waited.IsZero() || p.until != waited {
		p.notice()
	}
	switch {
	case p.until.After(p.now()) && p.until != waited:
		return nil, p.until, false
	case p.running >= max(1, int(p.limit)):
		return p.freed, time.Time{}, false
	}
	p.running++
	return nil, time.Time{}, true
}

// leave ends what was begun, and makes the pace faster where it was not refused.
func (p *Throttler) leave(begun time.Time, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running--
	close(p.freed)
	p.freed = make(chan struct{})
	if cosmos.IsThrottled(err) { // also by a script that had no time
		p.slowDown(cosmos.RetryAfter(err))
	} else if !p.notice() && err == nil {
		p.limit = min(p.most, p.limit+paceGrowth*min(1, p.limit))
	}
	if p.limit < 1 {
		took := p.now().Sub(begun)
		p.pause(time.Duration(float64(took) * (1/p.limit - 1)))
	}
}

// notice slows down where anything was refused since it was called last.
func (p *Throttler) notice() bool {
	refusals, wait := p.throttles()
	if refusals == p.seen {
		return false
	}
	p.seen = refusals
	p.slowDown(wait)
	return true
}

// slowDown halves the pace, once for all that is refused until the pause is over. The pause is half as long again as the
// account asks for: what cannot wait comes first then.
func (p *Throttler) slowDown(wait time.Duration) {
	if !p.short.After(p.now()) {
		p.limit = max(leastPace, p.limit/2)
	}
	p.pause(wait + wait/2)
	p.short = p.until
}

func (p *Throttler) pause(d time.Duration) {
	if until := p.now().Add(min(d, longestPause)); until.After(p.until) {
		p.until = until
	}
}
