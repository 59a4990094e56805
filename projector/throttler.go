package projector

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"cosmosblog/store/cosmos"
)

// throttler limits the number of steps that the chores of a projector run at a time. Callers take
// turns: a step begins when all that came before have begun. With enough throughput, the limit is
// max. If the account answers any request of this process with 429, the
// throttler halves its limit. It also pauses for longer than the account asks, so that urgent
// requests go first. Each successful step raises the limit a little. A throttler may be used
// concurrently.
type throttler struct {
	throttles func() (count int64, wait time.Duration) // cosmos.DB.Throttles
	max       float64
	now       func() time.Time
	sleep     func(ctx context.Context, d time.Duration) error
	first     *semaphore.Weighted // of one: the caller that begins next
	freed     chan struct{}       // signals the first caller that a step has ended

	mu         sync.Mutex // guards the fields below
	limit      float64    // steps at a time; if below 1, one step runs for this fraction of the time
	running    int        // steps
	seen       int64      // 429 answers that the limit takes into account
	pauseEnd   time.Time  // no step starts before
	backoffEnd time.Time  // end of the pause after the last 429 answer
}

const (
	// minThrottle is the lowest limit. Steps run for at least this share of the time, so that chores
	// end even if the account is always busy.
	minThrottle = 1.0 / 16

	// throttleGrowth is the amount by which a successful step raises the limit, or the share of the
	// limit if that is below 1. The limit recovers from one 429 answer in a second or two.
	throttleGrowth = 1.0 / 32

	// maxThrottlePause limits the pauses: the account may have throughput earlier than it says.
	maxThrottlePause = 5 * time.Second
)

// newThrottler returns a throttler that lets at most Options.Parallel steps run at a time.
func newThrottler(o Options) *throttler {
	return &throttler{
		throttles: o.DB.Throttles,
		max:       float64(o.Parallel),
		now:       o.Now,
		sleep:     o.Sleep,
		limit:     float64(o.Parallel),
		first:     semaphore.NewWeighted(1),
		freed:     make(chan struct{}, 1),
	}
}

// do runs a step when the limit allows it, and repeats it without limit as long as the account
// throttles it. The step must be idempotent. Errors: the step's, and that of ctx.
func (t *throttler) do(ctx context.Context, step func() error) error {
	for {
		if err := t.enter(ctx); err != nil {
			return err
		}
		begun := t.now()
		err := step()
		t.leave(begun, err)
		if !cosmos.IsThrottled(err) {
			return err
		}
	}
}

// enter waits until the caller is the first, the pause is over, and the limit allows another step.
func (t *throttler) enter(ctx context.Context) error {
	if err := t.first.Acquire(ctx, 1); err != nil {
		return err
	}
	defer t.first.Release(1)
	for waited := (time.Time{}); ctx.Err() == nil; {
		pauseEnd, entered := t.tryEnter(waited)
		switch {
		case entered:
			return nil
		case pauseEnd != waited:
			if err := t.sleep(ctx, pauseEnd.Sub(t.now())); err != nil {
				return err
			}
			waited = pauseEnd
		default:
			select {
			case <-t.freed:
			case <-ctx.Done():
			}
		}
	}
	return ctx.Err()
}

// tryEnter starts a step if possible. Otherwise it returns the end of a pause, or waited if the
// limit is reached. waited is the end of the pause that the caller has waited for. After that wait,
// new 429 answers do not delay the caller again; they lower the limit when its step ends.
func (t *throttler) tryEnter(waited time.Time) (pauseEnd time.Time, entered bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if waited.IsZero() || t.pauseEnd != waited {
		t.notice()
	}
	switch {
	case t.pauseEnd.After(t.now()) && t.pauseEnd != waited:
		return t.pauseEnd, false
	case t.running >= max(1, int(t.limit)):
		return waited, false
	}
	t.running++
	return time.Time{}, true
}

// leave ends a step and adapts the limit to its outcome.
func (t *throttler) leave(begun time.Time, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running--
	wakeUp(t.freed)
	if cosmos.IsThrottled(err) { // includes a script that had no time
		t.slowDown(cosmos.RetryAfter(err))
	} else if !t.notice() && err == nil {
		t.limit = min(t.max, t.limit+throttleGrowth*min(1, t.limit))
	}
	if t.limit < 1 {
		took := t.now().Sub(begun)
		t.pause(time.Duration(float64(took) * (1/t.limit - 1)))
	}
}

// notice slows down and returns true if there were 429 answers since its last call.
func (t *throttler) notice() bool {
	count, wait := t.throttles()
	if count == t.seen {
		return false
	}
	t.seen = count
	t.slowDown(wait)
	return true
}

// slowDown halves the limit, once for all 429 answers until the pause is over. The pause is half as
// long again as the account asks for.
func (t *throttler) slowDown(wait time.Duration) {
	if !t.backoffEnd.After(t.now()) {
		t.limit = max(minThrottle, t.limit/2)
	}
	t.pause(wait + wait/2)
	t.backoffEnd = t.pauseEnd
}

func (t *throttler) pause(d time.Duration) {
	if end := t.now().Add(min(d, maxThrottlePause)); end.After(t.pauseEnd) {
		t.pauseEnd = end
	}
}
