package projector

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
)

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
