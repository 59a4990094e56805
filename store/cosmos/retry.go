package cosmos

import (
	"context"
	"math/rand/v2"
	"time"

	"cosmosblog/internal/blog"
)

// backoff limits the retries of one command or request, and waits between them: five tries, with
// delays of about 10, 20, 40 and 80 ms.
type backoff struct {
	sleep func(ctx context.Context, d time.Duration) error
}

// A backoff allows maxTries tries. The delay begins at firstDelay and doubles with each try.
const (
	maxTries   = 5
	firstDelay = 10 * time.Millisecond
)

// wait waits before the next try. try is the number of tries that failed. wait returns false if
// there is no next try, or if ctx is done.
func (b backoff) wait(ctx context.Context, try int) bool {
	if try >= maxTries {
		return false
	}
	return b.sleep(ctx, jitter(firstDelay<<(try-1))) == nil
}

// jitter returns a random time between half and one and a half of a delay.
func jitter(delay time.Duration) time.Duration { return delay/2 + rand.N(delay) }

// patience bounds the pauses between the tries of one request: they begin at firstDelay and double
// up to lastPatientDelay, until the context's deadline. A pause that would end later is not begun.
// Without a deadline, they add up to patientTime at most, the default of --timeout.
type patience struct {
	ctx      context.Context
	sleep    func(ctx context.Context, d time.Duration) error
	deadline time.Time // zero if there is none
	left     time.Duration
	delay    time.Duration
}

const (
	lastPatientDelay = time.Second
	patientTime      = 10 * time.Second
)

func newPatience(ctx context.Context, sleep func(ctx context.Context, d time.Duration) error) *patience {
	p := &patience{ctx: ctx, sleep: sleep, left: patientTime, delay: firstDelay}
	if deadline, ok := ctx.Deadline(); ok {
		p.deadline, p.left = deadline, time.Until(deadline)
	}
	return p
}

// wait waits before the next try. It returns false if there is no next try, or if ctx is done.
func (p *patience) wait() bool {
	pause := jitter(p.delay)
	p.delay = min(2*p.delay, lastPatientDelay)
	p.left -= pause // also if sleep returns at once
	if p.left < 0 || !p.deadline.IsZero() && time.Until(p.deadline) < pause {
		return false
	}
	return p.sleep(p.ctx, pause) == nil
}

// Limits of RetryTransient for a step of unknown outcome. The delays double from the first to the
// last and add up to 33 s, in which the service can fail over to other machines.
const (
	transientTries      = 10
	firstTransientDelay = 100 * time.Millisecond
	lastTransientDelay  = 10 * time.Second
)

// RetryTransient executes a step of background work until it succeeds or fails for good. The
// step must be idempotent. A throttled step (IsThrottled) is retried without limit, after the
// wait that the service requests. A step of unknown outcome is tried ten times in all, with 33 s
// of waits. RetryTransient returns the error of the last try. It stops if ctx is done.
func (db *DB) RetryTransient(ctx context.Context, step func() error) error {
	delay := firstTransientDelay
	for failures := 0; ; {
		err := step()
		switch {
		case err == nil:
			return nil
		case blog.CodeOf(err) == blog.Throttled:
			wait := RetryAfter(err)
			if db.backoff.sleep(ctx, wait+rand.N(wait)) != nil { // jitter
				return err
			}
		case OutcomeUnknown(ctx, err):
			if failures++; failures == transientTries || db.backoff.sleep(ctx, delay) != nil {
				return err
			}
			delay = min(2*delay, lastTransientDelay)
		default:
			return err
		}
	}
}

// MaxConflictTries is the maximum number of times that RetryOnConflict executes a step. Whenever a
// step loses, a concurrent write has succeeded, so a few tries are enough.
const MaxConflictTries = 5

// RetryOnConflict executes a step that reads an item and then writes it conditionally. If a
// concurrent write was faster (IsRaceLost), it executes the step again without waiting, at most
// MaxConflictTries times in all. It returns the error of the last try.
func RetryOnConflict(step func() error) error {
	var err error
	for range MaxConflictTries {
		if err = step(); !IsRaceLost(err) {
			break
		}
	}
	return err
}

// Sleep waits for d, or until ctx is done.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
