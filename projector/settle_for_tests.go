package projector

import (
	"context"
	"errors"
	"fmt"
	"time"

	"cosmosblog/store/cosmos"
)

// SettleForTests projects all pending changes and then releases the leases. It is for tests only.
// It ends after a round in which no feed had new changes and no chore was due. The last pass of a
// sweep or deletion is due SettleTime after the first, by Options.Now: a later call runs it. It
// must not be called while Run is running. It returns the first error, also if another projector
// holds a lease.
func (p *Projector) SettleForTests(ctx context.Context) (err error) {
	ctx = cosmos.InBackground(ctx)
	defer p.beats(ctx)()
	defer func() { err = errors.Join(err, p.releaseAll(ctx)) }()
	for busy := true; busy; {
		for _, container := range sources {
			p.feeds.ForgetLayout(container) // a test need not wait until a split or merge is noticed
		}
		start := func(w *worker) { p.start(ctx, w, p.confirmLoop(w)) }
		if _, err := p.balance(ctx, start); err != nil {
			return err
		}
		held := len(p.sortedWorkers())
		if held < p.leaseCount {
			return fmt.Errorf("projector: other projectors hold %d of %d leases", p.leaseCount-held, p.leaseCount)
		}
		if busy, err = p.settleRound(ctx); err != nil {
			break
		}
	}
	return err
}

// confirmLoop writes the lease of a worker again and again: a round may take longer than a lease
// stays valid without a balance.
func (p *Projector) confirmLoop(w *worker) func(context.Context) {
	return func(ctx context.Context) {
		for cosmos.Sleep(ctx, p.options.Renew) == nil {
			_ = w.confirm(ctx) // the next one tries again
		}
	}
}

// settleRound runs each worker until it has nothing to do, and reports whether any had something.
func (p *Projector) settleRound(ctx context.Context) (worked bool, err error) {
	for _, w := range p.sortedWorkers() {
		w.held.assumeAlone()
		did, err := w.settle(ctx)
		worked = worked || did
		if err != nil {
			return worked, fmt.Errorf("%s: %w", w.id, err)
		}
	}
	return worked, nil
}

// settle runs steps until there is nothing to do, and reports whether there was something.
func (w *worker) settle(ctx context.Context) (worked bool, err error) {
	defer w.end()
	for {
		result, err := w.step(ctx)
		switch {
		case err != nil:
			return worked, err
		case result == idle || result == pending || result == unsaved:
			return worked, w.held.flush(ctx, 0)
		}
		worked = true
	}
}

// assumeAlone notes that no earlier attempt is under way any more: nobody else runs a projector.
func (h *heldLease) assumeAlone() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.attempted = time.Time{}
}
