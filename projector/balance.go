package projector

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"cosmosblog/store/changefeed"
)

// balance lists the leases once and takes those that the planner selects. It calls start for each
// new worker, and returns the time until the next balance is due. If a part fails, balance
// continues with the others, and returns the joined errors.
func (p *Projector) balance(ctx context.Context, start func(*worker)) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, p.options.Expire) // a request may get no answer
	defer cancel()
	leases, err := p.listLeases(ctx)
	if leases == nil {
		return p.options.Balance, err
	}
	p.leaseCount = len(leases)
	s := p.snapshot(leases)
	failed := p.take(ctx, planLeases(s), start)
	p.takeOver = p.takeOver && failed != nil
	return s.nextExpiry(p.options.Balance), errors.Join(err, failed)
}

// listLeases creates missing leases, replaces our leases of split ranges, and returns all leases.
// If the leases cannot be listed, it returns nil. Otherwise its errors concern single containers,
// and the returned leases are valid.
func (p *Projector) listLeases(ctx context.Context) ([]changefeed.Lease, error) {
	ranges, failed := readAllRanges(ctx, p.feeds)
	for _, c := range ranges {
		failed = errors.Join(failed, p.replaceLeases(ctx, c))
	}
	leases, history, err := p.feeds.LeasesAndHistory(ctx)
	if err == nil && len(p.missingLeases(ranges, leases, history)) > 0 {
		leases, history, err = p.createMissing(ctx, ranges)
	}
	if err == nil {
		leases, err = p.follow(ctx, history, leases)
	}
	if err != nil {
		return nil, errors.Join(failed, err)
	}
	return slices.DeleteFunc(leases, p.isUnknown), failed
}

// missingLeases returns missingLeases for a history, and the lease of its rebuild.
func (p *Projector) missingLeases(ranges []containerRanges, leases []changefeed.Lease, history changefeed.History) []changefeed.Lease {
	missing := missingLeases(ranges, leases)
	if !history.IsRebuilt && p.options.Rebuild != nil && !slices.ContainsFunc(leases, isOfRebuild) {
		missing = append(missing, changefeed.Lease{ID: rebuildLease})
	}
	for i := range missing {
		missing[i].History = history.Name
	}
	return missing
}

// createMissing creates the missing leases. It lists the leases a second time before, because a
// listing is not a snapshot. During a split, the first one may contain neither the parent nor its
// children; the second one then contains the children.
func (p *Projector) createMissing(
	ctx context.Context, ranges []containerRanges,
) ([]changefeed.Lease, changefeed.History, error) {
	leases, history, err := p.feeds.LeasesAndHistory(ctx)
	if err != nil {
		return nil, history, err
	}
	for _, lease := range p.missingLeases(ranges, leases, history) {
		if err := p.feeds.CreateLease(ctx, lease); err != nil {
			return nil, history, err
		}
	}
	return p.feeds.LeasesAndHistory(ctx)
}

// replaceLeases replaces those of our leases of a container that have successors.
func (p *Projector) replaceLeases(ctx context.Context, c containerRanges) error {
	var failed []error
	for _, w := range p.sortedWorkers() {
		if w.container != c.container {
			continue
		}
		successors, err := c.successors(w.held.current())
		if err == nil && len(successors) > 0 {
			err = p.replaceLease(ctx, w, c)
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", w.id, err))
		}
	}
	return errors.Join(failed...)
}

// replaceLease replaces a lease by its successors. It deletes the lease last, so that the
// replacement is repeated after a crash. Successors that already exist stay unchanged, because they
// have read further than the lease. If another projector took the lease meanwhile, that projector
// finishes the replacement, and replaceLease returns nil.
func (p *Projector) replaceLease(ctx context.Context, w *worker, c containerRanges) error {
	if err := w.stop(ctx); err != nil {
		return err
	}
	lease := w.held.current()
	successors, err := c.successors(lease)
	if err != nil {
		return err
	}
	for _, successor := range successors {
		if err := p.feeds.CreateLease(ctx, successor); err != nil {
			return err
		}
	}
	err = p.feeds.DeleteLease(ctx, lease)
	if err == nil {
		p.options.Logger.Info("lease replaced: the feed ranges changed",
			"lease", w.id, "successors", len(successors))
	}
	if errors.Is(err, changefeed.ErrLeaseLost) {
		return nil
	}
	return err
}

// snapshot returns the planner's input, and records the observed etags.
func (p *Projector) snapshot(leases []changefeed.Lease) snapshot {
	s := snapshot{
		self:      p.options.Owner,
		takeOver:  p.takeOver,
		temporary: p.options.Temporary,
		expire:    p.options.Expire,
		held:      make(map[string]bool),
	}
	for _, w := range p.sortedWorkers() {
		s.held[w.id] = true
	}
	now := p.options.Now()
	listed := make(map[string]bool, len(leases))
	for _, lease := range leases {
		listed[lease.ID] = true
		unchanged := p.leaseObservations.unchangedFor(lease.ID, lease.ETag, now)
		s.leases = append(s.leases, observedLease{lease, unchanged})
	}
	p.leaseObservations.retain(listed)
	return s
}

// take carries out a plan. If another projector took a free lease first, take continues with the
// next free lease.
func (p *Projector) take(ctx context.Context, plan plan, start func(*worker)) error {
	certain := slices.Concat(plan.reclaim, plan.steal)
	return errors.Join(
		p.acquire(ctx, certain, len(certain), start),
		p.acquire(ctx, plan.free, plan.takeFree, start),
	)
}

// acquire takes up to n of the leases and starts their workers. It skips leases that other
// projectors took first.
func (p *Projector) acquire(
	ctx context.Context, leases []changefeed.Lease, n int, start func(*worker),
) error {
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
		case !errors.Is(err, changefeed.ErrLeaseLost):
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}
