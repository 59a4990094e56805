package projector

import (
	"context"
	"errors"
	"time"

	"cosmosblog/store"
)

// balance looks at the leases once and does what the plan says. start is called with each new worker. The errors are
// those of all that failed; the rest is done.
func (p *Projector) balance(ctx context.Context, start func(*worker)) error {
	ctx, cancel := context.WithTimeout(ctx, p.options.Expire) // no later renewal is of any use
	defer cancel()
	p.dropEnded()
	leases, err := p.leases(ctx)
	if err != nil {
		return err
	}
	p.known = len(leases)
	plan := planLeases(p.situation(leases))
	for _, id := range plan.drop {
		p.drop(id)
	}
	var failed []error
	for _, id := range plan.renew {
		failed = append(failed, p.renew(ctx, p.worker(id)))
	}
	for _, lease := range plan.acquire {
		failed = append(failed, p.acquire(ctx, lease, start))
	}
	err = errors.Join(failed...)
	p.takeOver = p.takeOver && err != nil
	return err
}

// leases lists all leases, and makes those that are missing.
func (p *Projector) leases(ctx context.Context) ([]store.Lease, error) {
	leases, err := p.options.Store.Leases(ctx)
	if err != nil {
		return nil, err
	}
	missing, err := p.missing(ctx, leases)
	if err != nil || len(missing) == 0 {
		return leases, err
	}
	for _, lease := range missing {
		if err := p.options.Store.CreateLease(ctx, lease); err != nil {
			return nil, err
		}
	}
	return p.options.Store.Leases(ctx)
}

// missing gives the leases that are not there yet. Reading the resource ids has a second use: the Store remembers them,
// and notices by them that a continuation is of an earlier container.
func (p *Projector) missing(ctx context.Context, leases []store.Lease) ([]store.Lease, error) {
	missing := missingChores(leases)
	for _, container := range sources {
		resourceID, err := p.options.Store.ResourceID(ctx, container)
		if err != nil {
			return nil, err
		}
		ranges, err := p.options.Store.FeedRanges(ctx, container)
		if err != nil {
			return nil, err
		}
		missing = append(missing, missingLeases(container, resourceID, ranges, leases)...)
	}
	return missing, nil
}

func (p *Projector) situation(leases []store.Lease) situation {
	s := situation{
		me:       p.options.Owner,
		takeOver: p.takeOver,
		expire:   p.options.Expire,
		held:     make(map[string]bool),
	}
	for _, w := range p.sorted() {
		s.held[w.id] = true
	}
	now := p.options.Now()
	listed := make(map[string]bool, len(leases))
	for _, lease := range leases {
		listed[lease.ID] = true
		s.leases = append(s.leases, sightedLease{lease, p.leaseSightings.unchanged(lease.ID, lease.ETag, now)})
	}
	p.leaseSightings.keepOnly(listed)
	return s
}

func (p *Projector) renew(ctx context.Context, w *worker) error {
	err := w.held.renew(ctx)
	if errors.Is(err, store.ErrLeaseLost) {
		p.drop(w.id)
		return nil
	}
	return err
}

// acquire takes a lease and makes its worker. That somebody else was faster is no error.
func (p *Projector) acquire(ctx context.Context, lease store.Lease, start func(*worker)) error {
	held := &heldLease{store: p.options.Store, now: p.options.Now, expire: p.options.Expire, often: p.options.PageSize, lease: lease}
	err := held.take(ctx, p.options.Owner)
	if errors.Is(err, store.ErrLeaseLost) {
		return nil
	}
	if err != nil {
		return err
	}
	w := p.newWorker(held)
	p.mu.Lock()
	p.workers[w.id] = w
	p.mu.Unlock()
	start(w)
	return nil
}

func (p *Projector) worker(id string) *worker {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.workers[id]
}

// dropEnded forgets the workers that found out by themselves that their lease is lost.
func (p *Projector) dropEnded() {
	for _, w := range p.sorted() {
		if w.ended() {
			p.drop(w.id)
		}
	}
}

// drop ends the worker of a lease that is no longer ours.
func (p *Projector) drop(id string) {
	p.mu.Lock()
	w := p.workers[id]
	delete(p.workers, id)
	p.mu.Unlock()
	if w != nil && w.stop != nil {
		w.stop()
		<-w.done
	}
}

// shutdown is how long giving up the leases may take.
const shutdown = 3 * time.Second

// releaseAll gives up all leases, whether or not ctx is done.
func (p *Projector) releaseAll(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdown)
	defer cancel()
	var failed []error
	for _, w := range p.sorted() {
		p.drop(w.id)
		if err := w.held.release(ctx); !errors.Is(err, store.ErrLeaseLost) {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}
