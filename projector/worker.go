package projector

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"cosmosblog/internal/blog"
	"cosmosblog/store"
)

// worker does the work of one lease, step by step, for as long as the lease is ours.
type worker struct {
	id        string
	container string // empty for a chore
	held      *heldLease
	step      func(ctx context.Context) (busy bool, err error)
	drained   func() bool // the last step took all that there was, so that another at once would take what has only begun
	wake      func() (<-chan struct{}, func())
	lost      func() // called once, where the lease is somebody else's before it is given up

	poll, gather, renew time.Duration
	patience            time.Duration // how long a step may go on without sending anything
	sleep               func(ctx context.Context, d time.Duration) error
	logger              *slog.Logger

	losing  sync.Once
	missing atomic.Pointer[store.MissingError] // what the database lacked at the last step

	stop context.CancelFunc
	done chan struct{} // closed at its end
}

// end stops the worker and waits until it has ended. Error: ctx is done earlier.
func (w *worker) end(ctx context.Context) error {
	w.stop()
	select {
	case <-w.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// release ends the worker and gives its lease up, also where it takes long to end.
func (w *worker) release(ctx context.Context) error {
	brief, cancel := context.WithTimeout(ctx, lastStep)
	defer cancel()
	_ = w.end(brief)
	if err := w.held.release(ctx); !errors.Is(err, store.ErrLeaseLost) {
		return err
	}
	return nil
}

// keep renews the lease until it is lost.
func (w *worker) keep(ctx context.Context) {
	for pause := w.renew; sleep(ctx, pause) == nil; {
		pause = w.renew
		err := w.held.save(ctx)
		switch {
		case ctx.Err() != nil:
		case errors.Is(err, store.ErrLeaseLost):
			w.lose()
			return
		case err != nil:
			pause = min(pause, renewAgain)
			w.logger.Warn("a lease could not be renewed, which will be tried again", "lease", w.id, "in", pause, "error", err)
		}
	}
}

// lose notes that the lease is somebody else's, which both loops may find.
func (w *worker) lose() {
	w.losing.Do(func() {
		w.lost()
		w.logger.Info("a lease is somebody else's now", "lease", w.id)
	})
}

// renewAgain is how soon a lease is renewed again where that failed.
const renewAgain = time.Second

// errSilent tells of a step that was given up.
var errSilent = errors.New("projector: no request was answered or sent for too long")

// once does one step. In it, nothing is sent any more once the lease is lost. A step that waits for an answer that never
// comes is given up after the time in which the lease would expire if it were not renewed beside it: nobody else does
// the work meanwhile.
func (w *worker) once(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(w.patience, func() { cancel(errSilent) })
	defer silence.Stop()
	busy, err := w.step(store.WithFence(ctx, func() error {
		silence.Reset(w.patience)
		return w.held.check()
	}))
	if err != nil && context.Cause(ctx) == errSilent {
		err = fmt.Errorf("%w: %w", errSilent, err)
	}
	return busy, err
}

func (w *worker) run(ctx context.Context) {
	woken, stop := w.wake()
	defer stop()
	pause := firstPause
	for ctx.Err() == nil {
		busy, err := w.once(ctx)
		missing, _ := errors.AsType[*store.MissingError](err)
		w.missing.Store(missing)
		switch {
		case ctx.Err() != nil:
		case errors.Is(err, store.ErrLeaseLost):
			w.lose()
			return
		case err != nil:
			w.logger.Warn("projecting failed and will be tried again", "lease", w.id, "in", pause, "error", err)
			w.sleep(ctx, max(pause, retryAfter(err)))
			pause = min(2*pause, longestPause)
		default:
			pause = firstPause
			switch {
			case !busy:
				w.rest(ctx, woken)
			case w.drained():
				w.sleep(ctx, w.gather)
			}
		}
	}
}

// How long a worker waits after a step that failed: twice as long after each.
const (
	firstPause   = 100 * time.Millisecond
	longestPause = 10 * time.Second
)

// rest waits until there may be something new.
func (w *worker) rest(ctx context.Context, woken <-chan struct{}) {
	timer := time.NewTimer(w.poll)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-woken:
		w.sleep(ctx, w.gather)
	}
}

// retryAfter is how long the database asks to wait.
func retryAfter(err error) time.Duration {
	if e, ok := errors.AsType[*blog.Error](err); ok {
		return e.RetryAfter
	}
	return 0
}
