package projector

import (
	"context"
	"errors"
	"fmt"

	"cosmosblog/store/cosmos"
)

// SettleForTests projects all pending changes and then releases the leases, which it renews
// meanwhile. It is for tests only. It ends after a round in which no feed had new changes and no
// chore was due. The last pass of a sweep or deletion is due SettleTime after the first, by
// Options.Now: a later call runs it. It must not be called while Run is running. It returns the
// first error, also if another projector holds a lease.
func (p *Projector) SettleForTests(ctx context.Context) (err error) {
	ctx = cosmos.InBackground(ctx)
	defer func() { err = errors.Join(err, p.releaseAll(ctx)) }()
	for busy := true; busy; {
		if _, err := p.balance(ctx, func(w *worker) { p.start(ctx, w, w.renewLoop) }); err != nil {
			return err
		}
		if n := len(p.sortedWorkers()); n < p.leaseCount {
			return fmt.Errorf("projector: other projectors hold %d of %d leases", p.leaseCount-n, p.leaseCount)
		}
		if busy, err = p.settleRound(ctx); err != nil {
			break
		}
	}
	return err
}

// settleRound runs each worker until it has nothing to do, and reports whether any had something.
func (p *Projector) settleRound(ctx context.Context) (bool, error) {
	worked := false
	for _, w := range p.sortedWorkers() {
		for {
			result, err := w.runStep(ctx)
			if err != nil {
				return worked, fmt.Errorf("%s: %w", w.id, err)
			}
			if result == idle || result == unsaved {
				break
			}
			worked = true
		}
		if err := w.held.flush(ctx); err != nil {
			return worked, err
		}
	}
	return worked, nil
}
