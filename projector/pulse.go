package projector

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
)

// pulse tells whether this projector's heartbeats have kept its leases valid. It may be used
// concurrently.
type pulse struct {
	expire time.Duration // the time without a heartbeat after which others may take the leases

	mu    sync.Mutex // guards the fields below
	last  time.Time  // when the latest successful heartbeat began
	lapse int        // the number of times that the leases were not valid
}

// beat notes a heartbeat that began at a time, and has succeeded now. If that took too long, leases
// may have been taken before.
func (p *pulse) beat(begun, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Sub(p.last) >= p.expire {
		p.lapse++
	}
	p.last = begun
}

// lapses returns the number of lapses so far.
func (p *pulse) lapses() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lapse
}

// isAlive reports whether the leases that were taken after a number of lapses are still valid.
func (p *pulse) isAlive(lapse int, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return lapse == p.lapse && now.Sub(p.last) < p.expire
}

// beat writes a heartbeat. It is not background work: at low priority, a busy account could reject
// heartbeats until the leases expire. Projectors would then take leases from each other and repeat
// work.
func (p *Projector) beat(ctx context.Context) error {
	heartbeat := changefeed.Heartbeat{Owner: p.options.Owner, Ends: map[string]changefeed.End{}, Expire: p.pulse.expire}
	for _, w := range p.sortedWorkers() {
		if end, ok := w.held.end(); ok {
			heartbeat.Ends[w.id] = end
		}
	}
	ctx, cancel := context.WithTimeout(cosmos.InForeground(ctx), p.options.writeTimeout())
	defer cancel()
	begun := p.options.Now()
	err := p.feeds.Beat(ctx, heartbeat)
	if err == nil {
		p.pulse.beat(begun, p.options.Now())
	}
	return err
}

// revive writes a heartbeat if there was none for so long that no lease can be held.
func (p *Projector) revive(ctx context.Context) error {
	if p.pulse.isAlive(p.pulse.lapses(), p.options.Now()) {
		return nil
	}
	return p.beat(ctx)
}

// beats writes heartbeats, and old checkpoints, also if ctx ends, until the returned function is
// called, which deletes the last heartbeat.
func (p *Projector) beats(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var loops sync.WaitGroup
	loops.Go(func() { p.flushLoop(ctx) })
	loops.Go(func() {
		for pause := p.options.Renew; cosmos.Sleep(ctx, pause) == nil; {
			pause = p.options.Renew
			if err := p.beat(ctx); err != nil && ctx.Err() == nil {
				pause = min(pause, leaseRetryDelay)
				p.options.Logger.Warn("writing a heartbeat failed; will retry", "in", pause, "error", err)
			}
		}
	})
	ended := make(chan struct{})
	go func() { loops.Wait(); close(ended) }()
	return func() {
		cancel()
		ctx, cancel := context.WithTimeout(cosmos.InForeground(context.WithoutCancel(ctx)), stopTimeout)
		defer cancel()
		select {
		case <-ended:
		case <-ctx.Done(): // a checkpoint has no answer
			return
		}
		if err := p.feeds.DeleteHeartbeat(ctx, changefeed.Heartbeat{Owner: p.options.Owner}); err != nil {
			p.options.Logger.Debug("deleting the heartbeat failed; another projector will", "error", err)
		}
	}
}

// flushLoop writes the checkpoints of workers whose steps take long, or fail.
func (p *Projector) flushLoop(ctx context.Context) {
	for cosmos.Sleep(ctx, p.options.Renew) == nil {
		var all sync.WaitGroup
		for _, w := range p.sortedWorkers() {
			all.Go(func() {
				if errors.Is(w.held.flush(ctx, p.options.Renew), changefeed.ErrLeaseLost) {
					w.lose()
				}
			})
		}
		all.Wait()
	}
}

// bury deletes the heartbeats of processes that have ended without that: all their leases were
// taken long ago.
func (p *Projector) bury(ctx context.Context, l changefeed.Listing) {
	for _, owner := range slices.Sorted(maps.Keys(l.Heartbeats)) {
		heartbeat := l.Heartbeats[owner]
		isOwner := func(lease changefeed.Lease) bool { return lease.Owner == owner }
		age := p.leaseObservations.unchangedFor(heartbeat.ID(), heartbeat.ETag, p.options.Now())
		if age >= p.options.Expire && owner != p.options.Owner && !slices.ContainsFunc(l.Leases, isOwner) {
			_ = p.feeds.DeleteHeartbeat(ctx, heartbeat) // the next balance tries again
		}
	}
}
