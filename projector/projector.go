package projector

import (
	"context"
	"sync"
	"time"

	"cosmosblog/blog"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/chores"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/views"
)

// Projector maintains the views of one database. It shares the work with all other projectors
// that use the same leases.
type Projector struct {
	options Options
	feeds   *changefeed.Feeds
	views   *views.Views
	pending *chores.Chores
	wakeups wakeups

	leaseObservations observations // used by Run and SettleForTests, and kept between their calls
	pulse             *pulse       // of all leases

	counts     *counts
	refillGate *refillGate
	chores     map[string]*chore // by lease id
	throttler  *throttler        // shared by all chores

	takeOver   bool // until all leases were listed and taken once
	leaseCount int  // in the last listing

	history changefeed.History // as of the last listing; only balance writes it

	mu        sync.Mutex // guards the fields below, and history where balance does not read it
	workers   map[string]*worker
	feedCount int  // the number of feed ranges in the last listing
	listedAll bool // that listing has all feed ranges
}

// New returns a projector. It sends no requests. It returns an error if a required option is
// missing or the options contradict each other.
func New(options Options) (*Projector, error) {
	options, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	pending, wakeups, counts := chores.New(options.DB), newWakeups(), newCounts()
	return &Projector{
		options:           options,
		feeds:             changefeed.New(options.DB),
		views:             views.New(options.DB),
		pending:           pending,
		wakeups:           wakeups,
		leaseObservations: make(observations),
		pulse:             &pulse{expire: options.Expire},
		counts:            counts,
		refillGate:        newRefillGate(),
		chores:            newChores(pending, wakeups, counts),
		throttler:         newThrottler(options),
		takeOver:          options.TakeOver,
		workers:           make(map[string]*worker),
	}, nil
}

// Run projects until ctx is done. Then it releases its leases and returns nil. It logs failures and
// retries them without limit. Its requests are background work, except those that share the leases
// among projectors. A Projector must not run more than once at a time.
func (p *Projector) Run(ctx context.Context) error {
	ctx = cosmos.InBackground(ctx)
	defer p.beats(ctx)()
	for ctx.Err() == nil {
		pause, err := p.balance(ctx, func(w *worker) { p.start(ctx, w, w.workLoop) })
		if err != nil && ctx.Err() == nil {
			pause = min(pause, max(leaseRetryDelay, blog.RetryAfterOf(err)))
			p.options.Logger.Warn("balancing leases failed; will retry", "in", pause, "error", err)
		}
		p.options.Sleep(ctx, pause)
	}
	if err := p.releaseAll(ctx); err != nil {
		p.options.Logger.Warn("releasing leases failed", "error", err)
	}
	return nil
}

// leaseRetryDelay is the longest pause after a failed balance or heartbeat.
const leaseRetryDelay = time.Second
