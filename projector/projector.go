package projector

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"cosmosblog/store"
)

// Projector keeps the views of one database, together with all others that have the same leases.
type Projector struct {
	options  Options
	recorded recorded

	// What was seen of leases, sweeps and deletions stays from one Run or Settle to the next. Run and Settle alone use it.
	leaseSightings, sweepSightings, deletionSightings sightings

	counts  *counts
	reserve *reserve
	pace    *store.Pace // of all chores

	takeOver bool // until all leases were looked at once
	known    int  // how many leases there are

	mu      sync.Mutex // held while workers is read or written
	workers map[string]*worker
}

// New makes a projector. It sends nothing. Error: an option is missing, or makes no sense.
func New(options Options) (*Projector, error) {
	options, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Projector{
		options:           options,
		recorded:          newRecorded(),
		counts:            newCounts(),
		reserve:           newReserve(),
		pace:              options.Store.NewPace(options.Parallel),
		leaseSightings:    make(sightings),
		sweepSightings:    make(sightings),
		deletionSightings: make(sightings),
		takeOver:          options.TakeOver,
		workers:           make(map[string]*worker),
	}, nil
}

// Run projects until ctx is done, then gives its leases up and returns nil. What fails is logged and tried again for as
// long as it takes. A Projector runs once at a time.
func (p *Projector) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		pause, err := p.balance(ctx, func(w *worker) { p.start(ctx, w, w.keep, w.run) })
		if err != nil && ctx.Err() == nil {
			pause = min(pause, balanceAgain)
			p.options.Logger.Warn("looking after the leases failed and will be tried again", "in", pause, "error", err)
		}
		p.options.Sleep(ctx, pause)
	}
	if err := p.releaseAll(ctx); err != nil {
		p.options.Logger.Warn("a lease could not be given up", "error", err)
	}
	return nil
}

// balanceAgain is how soon the leases are looked at again where that failed.
const balanceAgain = time.Second

// Settle projects until every feed had nothing new, and no sweep, deletion or purge was due, in one whole round; then it
// gives its leases up. The last pass of a sweep or deletion is due CommandDeadline after the first, by Options.Now: another Settle after that
// runs it.
// Its leases are renewed meanwhile. It must not be called beside Run. Error: the first that occurs, or that somebody else has a lease.
func (p *Projector) Settle(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, p.releaseAll(ctx)) }()
	for busy := true; busy; {
		if _, err := p.balance(ctx, func(w *worker) { p.start(ctx, w, w.keep) }); err != nil {
			return err
		}
		if n := len(p.sorted()); n < p.known {
			return fmt.Errorf("projector: %d of %d leases belong to somebody else", p.known-n, p.known)
		}
		if busy, err = p.round(ctx); err != nil {
			return err
		}
	}
	return nil
}

// round lets each worker do all that it has to do, and tells whether there was anything.
func (p *Projector) round(ctx context.Context) (bool, error) {
	worked := false
	for _, w := range p.sorted() {
		for busy := true; busy; worked = worked || busy {
			var err error
			if busy, err = w.once(ctx); err != nil {
				return worked, fmt.Errorf("%s: %w", w.id, err)
			}
		}
		if err := w.held.flush(ctx); err != nil {
			return worked, err
		}
	}
	return worked, nil
}
