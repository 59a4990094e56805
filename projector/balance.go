package projector

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
)

// balance lists the leases once and takes those that the planner selects. It calls start for each
// new worker, and returns the time until the next balance is due: before a held lease would have to
// count as lost because no listing shows it. If a part fails, balance continues with the others,
// and returns the joined errors.
func (p *Projector) balance(ctx context.Context, start func(*worker)) (time.Duration, error) {
	// A request may get no answer. And at low priority, a busy account could reject listings until
	// held leases count as lost.
	ctx, cancel := context.WithTimeout(cosmos.InForeground(ctx), p.options.Expire)
	defer cancel()
	if err := p.revive(ctx); err != nil {
		return p.options.Balance, err
	}
	begun := p.options.Now()
	listing, err := p.listLeases(ctx)
	if listing.Leases == nil {
		return p.options.Balance, err
	}
	p.count(listing.Leases, err == nil)
	s := p.snapshot(listing)
	p.noteOurs(s, begun)
	p.bury(ctx, listing)
	plan := planLeases(s)
	failed := errors.Join(p.confirm(ctx, plan.lost), p.take(ctx, plan, start))
	p.takeOver = p.takeOver && failed != nil
	pause := p.options.Balance
	if s.isAlone() && len(listing.Heartbeats) <= 1 {
		pause *= 2
	}
	return s.nextExpiry(min(pause, p.options.Expire/2)), errors.Join(err, failed)
}

// count notes the numbers of leases and feed ranges, and whether these are all.
func (p *Projector) count(leases []changefeed.Lease, all bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leaseCount, p.feedCount, p.listedAll = len(leases), 0, all
	for _, lease := range leases {
		if isFeed(lease) {
			p.feedCount++
		}
	}
}

// listLeases creates missing leases, replaces our leases of split ranges, and returns all known
// leases and the heartbeats. If the leases cannot be listed, it returns none. Otherwise its errors
// concern single containers, and the returned leases are valid.
func (p *Projector) listLeases(ctx context.Context) (changefeed.Listing, error) {
	ranges, failed := readAllRanges(ctx, p.feeds)
	for _, c := range ranges {
		failed = errors.Join(failed, p.replaceLeases(ctx, c))
	}
	listing, err := p.feeds.List(ctx)
	if err == nil && len(p.missingLeases(ranges, listing)) > 0 {
		listing, err = p.createMissing(ctx)
	}
	if err == nil {
		listing.Leases, err = p.follow(ctx, listing.History, listing.Leases)
	}
	if err != nil {
		return changefeed.Listing{}, errors.Join(failed, err)
	}
	for _, c := range ranges {
		var err error
		listing.Leases, err = p.deleteMerged(ctx, c, listing.Leases)
		failed = errors.Join(failed, err)
	}
	listing.Leases = slices.DeleteFunc(listing.Leases, p.isUnknown)
	return listing, failed
}

// missingLeases returns missingLeases for the present history, and the lease of its rebuild.
func (p *Projector) missingLeases(ranges []containerRanges, l changefeed.Listing) []changefeed.Lease {
	missing := missingLeases(ranges, l.Leases)
	if !l.History.IsRebuilt && p.options.Rebuild != nil && !slices.ContainsFunc(l.Leases, isOfRebuild) {
		missing = append(missing, changefeed.Lease{ID: rebuildLease})
	}
	missing = slices.DeleteFunc(missing, func(lease changefeed.Lease) bool {
		return lease.Continuation != "" && lease.History != l.History.Name // merged: once its parts follow the history
	})
	for i := range missing {
		missing[i].History = l.History.Name
	}
	return missing
}

// createMissing creates the missing leases. It lists the leases a second time before, because a
// listing is not a snapshot. During a split, the first one may contain neither the parent nor its
// children; the second one then contains the children. It also reads the feed ranges anew, because
// those of before a split would look like the result of a merge.
func (p *Projector) createMissing(ctx context.Context) (changefeed.Listing, error) {
	listing, err := p.feeds.List(ctx)
	if err != nil {
		return listing, err
	}
	for _, container := range sources {
		p.feeds.ForgetLayout(container)
	}
	ranges, _ := readAllRanges(ctx, p.feeds) // the caller reports containers whose ranges cannot be read
	for _, lease := range p.missingLeases(ranges, listing) {
		if err := p.feeds.CreateLease(ctx, lease); err != nil {
			return listing, err
		}
	}
	return p.feeds.List(ctx)
}

// replaceLeases replaces those of our leases of a container that have successors.
func (p *Projector) replaceLeases(ctx context.Context, c containerRanges) error {
	var failed []error
	for _, w := range p.sortedWorkers() {
		if w.container != c.container {
			continue
		}
		if err := p.replaceIfNeeded(ctx, w, c); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", w.id, err))
		}
	}
	return errors.Join(failed...)
}

// replaceIfNeeded replaces a lease if it has successors, also by the ranges as of now: the kept
// ones may be of before a merge.
func (p *Projector) replaceIfNeeded(ctx context.Context, w *worker, kept containerRanges) error {
	successors, err := kept.successors(w.held.current())
	if err != nil || len(successors) == 0 {
		return err
	}
	now, err := readRangesAnew(ctx, p.feeds, w.container)
	if err != nil {
		return err
	}
	successors, err = now.successors(w.held.current())
	if err != nil || len(successors) == 0 {
		return err
	}
	return p.replaceLease(ctx, w, now)
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

// deleteMerged deletes those of our leases of a container whose range was merged into one that has
// a lease, and returns the other leases. That lease began at the earliest continuation of all, so
// it has every change that ours have not.
func (p *Projector) deleteMerged(ctx context.Context, c containerRanges, leases []changefeed.Lease) ([]changefeed.Lease, error) {
	var failed []error
	others := slices.Clone(leases)
	for _, w := range p.sortedWorkers() {
		if w.container != c.container || !c.isMerged(w.held.current(), leases) {
			continue
		}
		// The kept ranges may be of before a split, whose lease is still there.
		fresh, err := readRangesAnew(ctx, p.feeds, c.container)
		if err == nil && !fresh.isMerged(w.held.current(), leases) {
			continue
		}
		if err == nil {
			err = w.stop(ctx)
		}
		if err == nil {
			err = p.feeds.DeleteLease(ctx, w.held.current())
		}
		switch {
		case err == nil:
			p.options.Logger.Info("lease deleted: its feed range was merged with others", "lease", w.id)
			others = slices.DeleteFunc(others, func(lease changefeed.Lease) bool { return lease.ID == w.id })
		case !errors.Is(err, changefeed.ErrLeaseLost):
			failed = append(failed, fmt.Errorf("%s: %w", w.id, err))
		}
	}
	return others, errors.Join(failed...)
}

// snapshot returns the planner's input, and records the observed etags.
func (p *Projector) snapshot(l changefeed.Listing) snapshot {
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
	s.leases = p.leaseObservations.ofLeases(l, p.options.Now())
	return s
}

// noteOurs tells the workers whose leases are ours in a listing that began at a time. Workers whose
// leases were not valid for a while end, and leases that are still ours are taken again.
func (p *Projector) noteOurs(s snapshot, begun time.Time) {
	for _, w := range p.sortedWorkers() {
		if slices.ContainsFunc(s.leases, func(lease observedLease) bool { return lease.ID == w.id && lease.Owner == s.self }) {
			w.held.isOurs(begun)
		}
		if w.held.check() != nil {
			w.lose()
		}
	}
}

// confirm writes leases that this projector works on. The workers of those that another one has
// taken end. If none has, a replica that lags has listed them.
func (p *Projector) confirm(ctx context.Context, leases []changefeed.Lease) error {
	var failed []error
	for _, w := range p.sortedWorkers() {
		if slices.ContainsFunc(leases, func(lease changefeed.Lease) bool { return lease.ID == w.id }) {
			failed = append(failed, w.confirm(ctx))
		}
	}
	return errors.Join(failed...)
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
