package projector

import (
	"context"
	"errors"
	"slices"
	"time"

	"cosmosblog/store/changefeed"
	"cosmosblog/store/follow"
)

// rebuildLease is the lease of the projector that rebuilds the views after a history has ended. It
// exists from then until they are rebuilt.
const rebuildLease = "lease.rebuild"

func isOfRebuild(lease changefeed.Lease) bool { return lease.ID == rebuildLease }

// maxReplicaLag is the time after which every replica has a write, and no server keeps a state of
// before.
const maxReplicaLag = 2 * time.Second

// rebuildStep rebuilds the views if the present history needs that. It waits until every feed is
// read from a position of this history: what changes after that is projected, and what changed
// before, the rebuild reads. Work of chores for lost changes ends first, because the rebuild leaves
// them what they have to do.
func (p *Projector) rebuildStep(ctx context.Context) (stepResult, error) {
	listing, err := p.feeds.List(ctx)
	history := listing.History
	if err != nil || history.IsRebuilt || slices.ContainsFunc(listing.Leases, isNotBegun) {
		return idle, err
	}
	if err := p.pending.ForgetLostWork(ctx); err != nil {
		return idle, err
	}
	// Until the chores have read what is left, and all commands of before have ended.
	if err := p.waitInHistory(ctx, history.Name, max(2*listInterval, p.options.SettleTime)+maxReplicaLag); err != nil {
		return idle, err
	}
	if err := p.options.Rebuild(ctx, history.Name); err != nil {
		return idle, err
	}
	if err := p.waitInHistory(ctx, history.Name, maxReplicaLag); err != nil {
		return idle, err
	}
	if err := p.feeds.NoteRebuilt(ctx, history.Name); err != nil {
		return idle, err
	}
	p.options.Logger.Info("the views are rebuilt", "history", history.Name)
	return more, nil
}

// waitInHistory waits. Meanwhile, it sends requests, without which a step would be canceled. Error:
// the history has ended.
func (p *Projector) waitInHistory(ctx context.Context, name string, d time.Duration) error {
	for d > 0 {
		pause := min(d, p.options.Expire/4)
		if err := p.options.Sleep(ctx, pause); err != nil {
			return err
		}
		d -= pause
		present, err := p.feeds.History(ctx)
		if err == nil && present.Name > name {
			err = errHistoryEnded
		}
		if err != nil {
			return err
		}
	}
	return nil
}

var errHistoryEnded = errors.New("projector: the database went back again while its views were rebuilt")

// isNotBegun reports whether a lease of a feed range has no position in the present history yet.
// One without a continuation is read from the beginning.
func isNotBegun(lease changefeed.Lease) bool {
	return isFeed(lease) && follow.IsFromNow(lease.Continuation)
}
