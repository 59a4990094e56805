package cosmos

import (
	"context"
	"math/rand/v2"
	"time"
)

// backoff limits the retries of one command or request, and waits between them: five tries, with
// delays of about 10, 20, 40 and 80 ms.
type backoff struct {
	sleep sleepFunc
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

// Limits of RetryTransient for a step of unknown outcome. The delays double from the first to the
// last and add up to 33 s, in which the service can fail over to other machines.
const (
	transientTries      = 10
	firstTransientDelay = 100 * time.Millisecond
	lastTransientDelay  = 10 * time.Second
)

// RetryTransient executes a step of background work until it succeeds or fails for good. The
// step must be idempotent. A throttled step (IsThrottled) is retried without limit, after the
// wait that the service requests. A step of unknown outcome, or without a connection, is tried
// ten times in all, with 33 s of waits. RetryTransient returns the error of the last try. It stops
// if ctx is done, or its session is lost (IsSessionLost).
func (db *DB) RetryTransient(ctx context.Context, step func() error) error {
	delay := firstTransientDelay
	for failures := 0; ; {
		err := step()
		switch {
		case err == nil:
			return nil
		case IsSessionLost(ctx):
			return err
		case IsThrottled(err):
			wait := RetryAfter(err)
			if db.backoff.sleep(ctx, wait+rand.N(wait)) != nil { // jitter
				return err
			}
		case OutcomeUnknown(ctx, err), isNotSent(err):
			if failures++; failures == transientTries || db.backoff.sleep(ctx, delay) != nil {
				return err
			}
			delay = min(2*delay, lastTransientDelay)
		default:
			return err
		}
	}
}

// Retried returns what a step returns that RetryTransient executes.
func Retried[T any](ctx context.Context, db *DB, step func(context.Context) (T, error)) (result T, err error) {
	err = db.RetryTransient(ctx, func() (err error) {
		result, err = step(ctx)
		return err
	})
	return result, err
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

// sleepFunc waits before a retry, or until ctx is done: then it returns ctx's error.
type sleepFunc func(ctx context.Context, d time.Duration) error

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
