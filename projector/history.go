package projector

import (
	"context"
	"errors"
	"slices"
	"time"

	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/follow"
)

// beginAtPresent stores the position of the present, from which a lease of a new history is read.
func (r *reader) beginAtPresent(ctx context.Context, at changefeed.Lease, page changefeed.ChangePage) (stepResult, error) {
	if follow.IsFromNow(page.Continuation) {
		return idle, errNoPosition
	}
	return more, r.held.advance(ctx, progress{
		history:      at.History,
		resourceID:   page.ResourceID,
		continuation: page.Continuation,
		changes:      r.pageSize,
	})
}

var errNoPosition = errors.New("projector: the account does not report the position of the present")

// beyondEnd ends the history if a page of the feed is beyond its end, and if that shows that the
// database went back, or has lasted for too long. It must notice at once if it can: a failover may
// lose so few writes that the feed soon passes the position.
func (r *reader) beyondEnd(ctx context.Context, at changefeed.Lease, page changefeed.ChangePage) (stepResult, error) {
	partition, err := r.feeds.Partition(ctx, at.Container, at.Range)
	hasLost := false
	if err == nil && partition != "" {
		hasLost, err = r.feeds.HasLost(ctx, at.Container, partition, page)
	}
	if err != nil {
		return idle, err
	}
	now := r.now()
	if r.beyondEndSince.IsZero() {
		r.beyondEndSince = now
	}
	if !mayEnd(at, page) || !hasLost && now.Sub(r.beyondEndSince) < follow.BeyondEndLimit {
		return idle, nil
	}
	return r.endHistory(ctx, at, "the container "+at.Container+" was reset to an earlier state")
}

// endHistory ends the history of the lease, unless another process has done so, and begins again.
func (r *reader) endHistory(ctx context.Context, at changefeed.Lease, reason string) (stepResult, error) {
	present, err := r.feeds.EndHistory(ctx, at.History, reason)
	if err != nil {
		return idle, err
	}
	r.beyondEndSince = time.Time{}
	r.retrier.logger.Error("the database went back to an earlier state: the views are rebuilt, and may lack changes until then",
		"reason", reason, "lease", at.ID, "continuation", at.Continuation, "history", present.Name)
	r.held.follow(present)
	return more, nil
}

// mayEnd reports whether the history of a lease has lasted for historiesApart. So if an account's
// numbers ever mean something else, the views are not rebuilt without end.
func mayEnd(at changefeed.Lease, page changefeed.ChangePage) bool {
	return page.AsOf.Time().Sub(changefeed.History{Name: at.History}.Began()) >= historiesApart
}

const historiesApart = 10 * time.Minute

// wentBack returns a view in which the first writes of a step have produced a state before one that
// the lease knows, or "". A write is executed on the latest state, so the view has lost states.
func wentBack(at changefeed.Lease, first cosmos.SessionTokens) string {
	before, err := cosmos.ParseSessionTokens(at.Views)
	if err != nil {
		return ""
	}
	for view, token := range first {
		if token.WentBack(before[view]) {
			return view
		}
	}
	return ""
}

// follow tells the workers the present history. Once the views are rebuilt, it deletes the lease of
// the rebuild, unless another projector holds it. It returns the other leases.
func (p *Projector) follow(ctx context.Context, present changefeed.History, leases []changefeed.Lease) ([]changefeed.Lease, error) {
	p.mu.Lock()
	p.history = present
	p.mu.Unlock()
	for _, w := range p.sortedWorkers() {
		w.held.follow(present)
	}
	i := slices.IndexFunc(leases, isOfRebuild)
	if i < 0 || !present.IsRebuilt || leases[i].Owner != "" && leases[i].Owner != p.options.Owner {
		return leases, nil
	}
	lease := leases[i]
	for _, w := range p.sortedWorkers() {
		if w.id == lease.ID {
			if err := w.stop(ctx); err != nil {
				return nil, err
			}
			lease = w.held.current()
		}
	}
	if err := p.feeds.DeleteLease(ctx, lease); err != nil && !errors.Is(err, changefeed.ErrLeaseLost) {
		return nil, err
	}
	return slices.Delete(leases, i, i+1), nil
}
