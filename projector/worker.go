package projector

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"cosmosblog/blog"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// stepResult tells when the next step of a lease's work is due.
type stepResult int

const (
	idle    stepResult = iota // there was nothing to do: after a signal, or the poll interval, which may grow
	pending                   // there was nothing to do yet: after a signal, or the poll interval
	more                      // there may be more to do: now
	drained                   // the step reached the end of the feed: after the gather interval
	unsaved                   // there was nothing to do, but the checkpoint must be written: after the gather interval
)

// worker runs the steps of one lease's work for as long as this projector holds the lease.
type worker struct {
	id        string
	container string // empty for a chore
	held      *heldLease
	step      func(ctx context.Context) (stepResult, error) // its requests are made in guard
	end       func()                                        // ends what the steps have begun
	wake      func() (<-chan struct{}, func())
	onLost    func() // called once if the lease is lost

	poll, gather time.Duration
	maxPoll      time.Duration // to which poll doubles while the worker is idle
	busyPoll     time.Duration // poll in the time of busyFor after a step with changes
	busyUntil    time.Time     // of workLoop
	now          func() time.Time
	stepTimeout  time.Duration // the longest time between two requests of a step
	sleep        func(ctx context.Context, d time.Duration) error
	logger       *slog.Logger

	reportLoss sync.Once
	missing    atomic.Pointer[schema.MissingError] // of the last step

	cancel context.CancelFunc
	done   chan struct{} // closed when all loops have ended
}

// stop stops the worker and waits for its loops to end, or until ctx is done.
func (w *worker) stop(ctx context.Context) error {
	w.cancel()
	select {
	case <-w.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// release stops the worker and releases its lease, even if the worker does not end in time.
func (w *worker) release(ctx context.Context) error {
	brief, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	stopped := w.stop(brief)
	if err := w.held.release(ctx, stopped == nil); !errors.Is(err, changefeed.ErrLeaseLost) {
		return err
	}
	return nil
}

// confirm writes the lease. If it is lost, the worker ends.
func (w *worker) confirm(ctx context.Context) error {
	err := w.held.save(ctx)
	if errors.Is(err, changefeed.ErrLeaseLost) {
		w.lose()
		return nil
	}
	return err
}

// lose ends the worker, whose lease is lost, and reports that.
func (w *worker) lose() {
	w.cancel()
	w.reportLoss.Do(func() {
		w.onLost()
		w.logger.Info("lease lost: taken by another projector or not renewed in time", "lease", w.id)
	})
}

var errStepTimeout = errors.New("projector: step canceled: no request for too long")

// guard calls work, which sends no request after the lease is lost.
//
// It cancels work that has sent no request for stepTimeout. The lease stays valid meanwhile, so no
// other projector would take over work that waits for a missing answer.
func (w *worker) guard(ctx context.Context, work func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(w.stepTimeout, func() { cancel(errStepTimeout) })
	defer timer.Stop()
	err := work(cosmos.WithFence(ctx, func() error {
		timer.Reset(w.stepTimeout)
		return w.held.check()
	}))
	if err != nil && context.Cause(ctx) == errStepTimeout {
		err = fmt.Errorf("%w: %w", errStepTimeout, err)
	}
	return err
}

// guarded returns a step that is made in guard as a whole.
func (w *worker) guarded(step func(context.Context) (stepResult, error)) func(context.Context) (stepResult, error) {
	return func(ctx context.Context) (result stepResult, err error) {
		err = w.guard(ctx, func(ctx context.Context) (err error) {
			result, err = step(ctx)
			return err
		})
		return result, err
	}
}

// workLoop runs steps until the lease is lost.
func (w *worker) workLoop(ctx context.Context) {
	defer w.end()
	woken, stop := w.wake()
	defer stop()
	delays := stepBackoff
	polls := doublingDelay{w.poll, w.maxPoll}
	for ctx.Err() == nil {
		result, err := w.step(ctx)
		missing, _ := errors.AsType[*schema.MissingError](err)
		w.missing.Store(missing)
		switch {
		case ctx.Err() != nil:
		case errors.Is(err, changefeed.ErrLeaseLost):
			w.lose()
			return
		case err != nil:
			pause := max(delays.delay(), blog.RetryAfterOf(err))
			w.logger.Warn("projection failed; will retry", "lease", w.id, "in", pause, "error", err)
			w.sleep(ctx, pause)
		default:
			delays = stepBackoff
			if result == more || result == drained {
				w.busyUntil = w.now().Add(busyFor)
			}
			if result != idle {
				polls = doublingDelay{w.poll, w.maxPoll}
			}
			switch result {
			case idle:
				w.waitForWork(ctx, woken, polls.delay())
			case pending:
				w.waitForWork(ctx, woken, w.poll)
			case drained, unsaved:
				w.sleep(ctx, w.gather)
			}
		}
	}
}

// stepBackoff is the pause of a worker after a failed step. It grows with each failure in a row.
var stepBackoff = doublingDelay{100 * time.Millisecond, 10 * time.Second}

// busyFor is the time after the last change for which a feed is polled more often.
const busyFor = 10 * time.Second

// waitForWork waits for a signal or the poll interval.
func (w *worker) waitForWork(ctx context.Context, woken <-chan struct{}, poll time.Duration) {
	if w.now().Before(w.busyUntil) {
		poll = w.busyPoll
	}
	timer := time.NewTimer(poll)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-woken:
		w.sleep(ctx, w.gather)
	}
}
