package projector

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

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
		renew:     o.Renew,
		patience:  o.Expire,
		sleep:     o.Sleep,
		lost:      func() { p.counts.leasesLost.Add(1) },
		drained:   func() bool { return false },
		logger:    o.Logger,
	}
	switch {
	case lease.ID == deletionsLease:
		w.step, w.wake = (&deleter{p.newChore(p.deletionSightings)}).step, wakenBy(p.recorded.deletions)
		return w
	case lease.ID == purgesLease:
		w.step, w.wake = (&purger{p.newChore(nil)}).step, wakenBy(p.recorded.purges)
		return w
	case lease.Container == "":
		w.step, w.wake = (&sweeper{p.newChore(p.sweepSightings)}).step, wakenBy(p.recorded.sweeps)
		return w
	}
	r := p.newReader(held, lease.Container)
	w.step, w.drained = r.step, func() bool { return r.drained }
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
		attempts:    p.newAttempts(),
	}
}

func (p *Projector) newAttempts() attempts {
	return attempts{
		store:   p.options.Store,
		longest: p.options.Expire / 4, // a worker that sends nothing for longer than Expire is given up
		sleep:   p.options.Sleep,
		logger:  p.options.Logger,
		counts:  p.counts,
	}
}

func (p *Projector) wakeReader(container string) (<-chan struct{}, func()) {
	if p.options.Wake == nil {
		return nil, func() {}
	}
	return p.options.Wake(container)
}

// start runs a worker's loops until it is told to end, or one of them ends because the lease is lost. Until it has ended,
// its lease is not taken again, so that no two work on it here. That ctx is done does not end it: then the lease is to be
// given up, too.
func (p *Projector) start(ctx context.Context, w *worker, loops ...func(context.Context)) {
	ctx, w.stop = context.WithCancel(context.WithoutCancel(ctx))
	w.done = make(chan struct{})
	p.mu.Lock()
	p.workers[w.id] = w
	p.mu.Unlock()
	var group sync.WaitGroup
	for _, loop := range loops {
		group.Go(func() {
			defer w.stop()
			loop(ctx)
		})
	}
	go func() {
		defer close(w.done)
		group.Wait()
		p.forget(w)
	}()
}

func (p *Projector) forget(w *worker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.workers, w.id)
}

func (p *Projector) sorted() []*worker {
	p.mu.Lock()
	defer p.mu.Unlock()
	var workers []*worker
	for _, w := range p.workers {
		workers = append(workers, w)
	}
	slices.SortFunc(workers, func(a, b *worker) int { return cmp.Compare(a.id, b.id) })
	return workers
}

// How long giving up the leases may take, and how much of that a worker has to end: what it then still writes is as
// harmless as what a worker writes whose lease was taken.
const (
	shutdown = 3 * time.Second
	lastStep = 1 * time.Second
)

// releaseAll gives up all leases, whether or not ctx is done. None waits for another.
func (p *Projector) releaseAll(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdown)
	defer cancel()
	workers := p.sorted()
	released := make(chan error, len(workers))
	for _, w := range workers {
		go func() { released <- w.release(ctx) }()
	}
	var failed []error
	for range workers {
		select {
		case err := <-released:
			failed = append(failed, err)
		case <-ctx.Done():
			return errors.Join(append(failed, ctx.Err())...)
		}
	}
	return errors.Join(failed...)
}
