package projector

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"cosmosblog/store/changefeed"
)

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

// isUnknown reports whether a lease belongs to a chore that only another version of the projector
// has. During an upgrade, versions run side by side. The lease of a rebuild is known to projectors
// that can rebuild.
func (p *Projector) isUnknown(lease changefeed.Lease) bool {
	if isOfRebuild(lease) {
		return p.options.Rebuild == nil
	}
	return lease.Container == "" && !slices.Contains(choreLeases, lease.ID)
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
