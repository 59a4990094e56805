package projector

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"cosmosblog/store/schema"
)

// newWorker returns the worker of a lease that was just taken.
func (p *Projector) newWorker(held *heldLease) *worker {
	lease := held.current()
	o := p.options
	w := &worker{
		id:          lease.ID,
		container:   lease.Container,
		held:        held,
		poll:        o.Poll,
		maxPoll:     o.Poll,
		busyPoll:    o.Poll,
		now:         o.Now,
		gather:      o.Gather,
		stepTimeout: o.Expire,
		sleep:       o.Sleep,
		end:         func() {},
		onLost:      func() { p.counts.leasesLost.Add(1) },
		logger:      o.Logger,
	}
	if lease.ID == rebuildLease {
		w.step, w.wake = w.guarded(p.rebuildStep), wokenBy(nil)
		return w
	}
	if chore := p.chores[lease.ID]; chore != nil {
		r := p.newRunner(chore, w.guard)
		w.step, w.end, w.wake = r.step, r.stop, wokenBy(chore.wake)
		w.maxPoll = max(o.Poll, maxChorePoll)
		return w
	}
	if lease.Container == schema.Posts {
		w.busyPoll = o.BusyPoll
	}
	w.step = w.guarded(p.newReader(held, lease.Container).step)
	w.wake = func() (<-chan struct{}, func()) { return p.wakeReader(lease.Container) }
	return w
}

// maxChorePoll is the longest interval between two listings of a chore's tasks. This projector's
// readers wake the chore; only tasks that other processes record wait for it.
const maxChorePoll = 30 * time.Second

func (p *Projector) wakeReader(container string) (<-chan struct{}, func()) {
	if p.options.Wake == nil {
		return nil, func() {}
	}
	return p.options.Wake(container)
}

// start runs a worker's loop until the worker is stopped, or until the loop ends because the lease
// is lost. This projector takes the lease again only after the loop has ended, so a lease never has
// two workers. The loop continues if ctx ends, because the worker must first release its lease.
func (p *Projector) start(ctx context.Context, w *worker, loop func(context.Context)) {
	ctx, w.cancel = context.WithCancel(context.WithoutCancel(ctx))
	w.done = make(chan struct{})
	p.mu.Lock()
	p.workers[w.id] = w
	p.mu.Unlock()
	go func() {
		defer close(w.done)
		defer p.removeWorker(w)
		defer w.cancel()
		loop(ctx)
	}()
}

func (p *Projector) removeWorker(w *worker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.workers, w.id)
}

func (p *Projector) sortedWorkers() []*worker {
	p.mu.Lock()
	defer p.mu.Unlock()
	var workers []*worker
	for _, w := range p.workers {
		workers = append(workers, w)
	}
	slices.SortFunc(workers, func(a, b *worker) int { return cmp.Compare(a.id, b.id) })
	return workers
}

// releaseTimeout limits the release of all leases. A worker has stopTimeout of that to end. If it
// does not end in time, its late writes change nothing, like those of a worker whose lease was
// taken.
const (
	releaseTimeout = 3 * time.Second
	stopTimeout    = 1 * time.Second
)

// releaseAll releases all leases concurrently, even if ctx is done.
func (p *Projector) releaseAll(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	workers := p.sortedWorkers()
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
