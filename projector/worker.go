package projector

import (
	"context"
	"errors"
	"log/slog"
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
	wake      func() (<-chan struct{}, func())
	progress  *progress // nil for a chore

	poll, gather time.Duration
	sleep        func(ctx context.Context, d time.Duration) error
	logger       *slog.Logger

	stop context.CancelFunc // nil before the worker was started
	done chan struct{}      // closed at its end
}

// newWorker makes the worker of a lease that was just taken.
func (p *Projector) newWorker(held *heldLease) *worker {
	lease := held.position()
	o := p.options
	w := &worker{
		id:        lease.ID,
		container: lease.Container,
		held:      held,
		poll:      o.Poll,
		gather:    o.Gather,
		sleep:     o.Sleep,
		logger:    o.Logger,
	}
	switch {
	case lease.ID == deletionsLease:
		w.step, w.wake = p.newDeleter(held).step, wakenBy(p.deletionRecorded)
		return w
	case lease.Container == "":
		w.step, w.wake = p.newSweeper(held).step, wakenBy(p.sweepRecorded)
		return w
	}
	r := p.newReader(held, lease.Container)
	w.step, w.progress = r.step, &r.progress
	w.wake = func() (<-chan struct{}, func()) { return p.wakeReader(lease.Container) }
	return w
}

func (p *Projector) newReader(held *heldLease, container string) *reader {
	return &reader{
		store:       p.options.Store,
		held:        held,
		projections: p.projections(container),
		pageSize:    p.options.PageSize,
		parallel:    p.options.Parallel,
		now:         p.options.Now,
		sleep:       p.options.Sleep,
		logger:      p.options.Logger,
	}
}

func (p *Projector) newSweeper(held *heldLease) *sweeper {
	return &sweeper{
		store:     p.options.Store,
		held:      held,
		now:       p.options.Now,
		deadline:  p.options.CommandDeadline,
		parallel:  p.options.Parallel,
		logger:    p.options.Logger,
		sightings: p.sweepSightings,
	}
}

func (p *Projector) newDeleter(held *heldLease) *deleter {
	return &deleter{
		store:     p.options.Store,
		held:      held,
		now:       p.options.Now,
		deadline:  p.options.CommandDeadline,
		parallel:  p.options.Parallel,
		logger:    p.options.Logger,
		sightings: p.deletionSightings,
	}
}

// wakenBy is the wake of a chore: a channel that this projector's own readers signal when they recorded something to do.
func wakenBy(recorded <-chan struct{}) func() (<-chan struct{}, func()) {
	return func() (<-chan struct{}, func()) { return recorded, func() {} }
}

func (p *Projector) wakeReader(container string) (<-chan struct{}, func()) {
	if p.options.Wake == nil {
		return nil, func() {}
	}
	return p.options.Wake(container)
}

// start runs the worker until ctx is done, stop is called, or its lease is lost.
func (w *worker) start(ctx context.Context) {
	ctx, w.stop = context.WithCancel(ctx)
	w.done = make(chan struct{})
	go func() {
		defer close(w.done)
		defer w.stop()
		w.run(ctx)
	}()
}

// ended tells whether a worker that was started has come to its end.
func (w *worker) ended() bool {
	select {
	case <-w.done: // nil, and so never ready, before the start
		return true
	default:
		return false
	}
}

func (w *worker) run(ctx context.Context) {
	woken, stop := w.wake()
	defer stop()
	pause := firstPause
	for ctx.Err() == nil {
		busy, err := w.step(ctx)
		switch {
		case ctx.Err() != nil:
		case errors.Is(err, store.ErrLeaseLost):
			w.logger.Warn("a lease was lost", "lease", w.id)
			return
		case err != nil:
			w.logger.Warn("projecting failed and will be tried again", "lease", w.id, "in", pause, "error", err)
			w.sleep(ctx, max(pause, retryAfter(err)))
			pause = min(2*pause, longestPause)
		default:
			pause = firstPause
			if !busy {
				w.rest(ctx, woken)
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
