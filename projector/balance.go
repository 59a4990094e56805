package projector

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"cosmosblog/store"
)

// balance looks at the leases once and takes what the plan says. start is called with each new worker. It gives how long
// the leases may stay unwatched. The errors are those of all that failed; the rest is done.
func (p *Projector) balance(ctx context.Context, start func(*worker)) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, p.options.Expire) // an answer that never comes
	defer cancel()
	leases, err := p.leases(ctx)
	if leases == nil {
		return p.options.Balance, err
	}
	p.known = len(leases)
	s := p.situation(leases)
	failed := p.take(ctx, planLeases(s), start)
	p.takeOver = p.takeOver && failed != nil
	return s.nextExpiry(p.options.Balance), errors.Join(err, failed)
}

// leases lists all leases, after it has made those that are missing and has put those of the parts in the place of what
// we hold of ranges that were split. It gives nil where they could not be listed; otherwise the errors are about single
// containers, and the leases of the others are there.
func (p *Projector) leases(ctx context.Context) ([]store.Lease, error) {
	divisions, failed := readDivisions(ctx, p.options.Store)
	for _, d := range divisions {
		failed = errors.Join(failed, p.succeed(ctx, d))
	}
	leases, err := p.options.Store.Leases(ctx)
	if err == nil && len(missingLeases(divisions, leases)) > 0 {
		leases, err = p.makeMissing(ctx, divisions)
	}
	if err != nil {
		return nil, errors.Join(failed, err)
	}
	return slices.DeleteFunc(leases, isUnknown), failed
}

// makeMissing lists the leases again before it makes those that are missing, and afterwards. They are not listed at one
// moment: of one that was split meanwhile neither the whole nor the parts may be seen, but then the parts are there.
func (p *Projector) makeMissing(ctx context.Context, divisions []division) ([]store.Lease, error) {
	leases, err := p.options.Store.Leases(ctx)
	if err != nil {
		return nil, err
	}
	for _, lease := range missingLeases(divisions, leases) {
		if err := p.options.Store.CreateLease(ctx, lease); err != nil {
			return nil, err
		}
	}
	return p.options.Store.Leases(ctx)
}

// succeed makes the successors of all leases that we hold and that have some.
func (p *Projector) succeed(ctx context.Context, d division) error {
	var failed []error
	for _, w := range p.sorted() {
		if w.container != d.container {
			continue
		}
		successors, err := d.successors(w.held.position())
		if err == nil && len(successors) > 0 {
			err = p.replace(ctx, w, d)
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", w.id, err))
		}
	}
	return errors.Join(failed...)
}

// replace puts its successors in a lease's place. The lease is deleted last: until then it is taken and replaced again
// after a crash, whatever has become of its successors by then. One that is there stays as it is: it has come further
// than the lease that it was made from. Where somebody else took the lease meanwhile, the rest is theirs.
func (p *Projector) replace(ctx context.Context, w *worker, d division) error {
	if err := w.end(ctx); err != nil {
		return err
	}
	lease := w.held.position()
	successors, err := d.successors(lease)
	if err != nil {
		return err
	}
	for _, successor := range successors {
		if err := p.options.Store.CreateLease(ctx, successor); err != nil {
			return err
		}
	}
	err = p.options.Store.DeleteLease(ctx, lease)
	if err == nil {
		p.options.Logger.Info("a feed range was divided anew", "lease", w.id, "into", len(successors))
	}
	if errors.Is(err, store.ErrLeaseLost) {
		return nil
	}
	return err
}

func (p *Projector) situation(leases []store.Lease) situation {
	s := situation{
		me:        p.options.Owner,
		takeOver:  p.takeOver,
		temporary: p.options.Temporary,
		expire:    p.options.Expire,
		held:      make(map[string]bool),
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

// take takes what is planned. Of the free leases, the next one takes the place of one that somebody else was faster to
// take.
func (p *Projector) take(ctx context.Context, plan plan, start func(*worker)) error {
	certain := slices.Concat(plan.mine, plan.steal)
	return errors.Join(
		p.acquire(ctx, certain, len(certain), start),
		p.acquire(ctx, plan.free, plan.take, start),
	)
}

// acquire takes n of the leases and makes their workers. That somebody else was faster is no error.
func (p *Projector) acquire(ctx context.Context, leases []store.Lease, n int, start func(*worker)) error {
	var failed []error
	for _, lease := range leases {
		if n == 0 {
			break
		}
		held := p.newHeldLease(lease)
		switch err := held.take(ctx, p.options.Owner); {
		case err == nil:
			n--
			start(p.newWorker(held))
		case !errors.Is(err, store.ErrLeaseLost):
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}
