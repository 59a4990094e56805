package projector

import (
	"context"
	"errors"
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
