package projector

import (
	"context"
	"errors"
	"sync"
	"time"

	"cosmosblog/internal/blog"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
)

// heldLease is a lease that this projector works on. The worker's two loops use it concurrently:
// one advances the checkpoint, the other renews the lease.
type heldLease struct {
	write           func(context.Context, changefeed.Lease) (changefeed.Lease, error) // Feeds.SaveLease
	now             func() time.Time
	expire          time.Duration
	writeTimeout    time.Duration
	checkpointAfter int           // the number of changes after which the checkpoint is written
	promptly        time.Duration // the shortest time between two checkpoints that clients wait for

	writing chan struct{} // a semaphore of one slot: one write of the lease at a time

	mu      sync.Mutex // guards the fields below; never held during a request
	lease   changefeed.Lease
	unsaved int       // changes projected since the checkpoint was written
	awaited bool      // clients may wait for the checkpoint (progress.awaited)
	behind  bool      // the position lacks some of the projected changes, until a page is at the end
	saved   time.Time // when the last successful write began; the lease expires relative to this time
	lost    bool      // another process has written or deleted the lease
	rebuilt bool      // the views are rebuilt since the lease's history began (History.IsRebuilt)
}

// newHeldLease prepares a listed lease to be taken.
func (p *Projector) newHeldLease(lease changefeed.Lease) *heldLease {
	return &heldLease{
		rebuilt:         p.history.IsRebuilt && p.history.Name == lease.History,
		write:           p.feeds.SaveLease,
		now:             p.options.Now,
		expire:          p.options.Expire,
		writeTimeout:    p.options.Renew, // leaves time for another attempt before the lease expires
		checkpointAfter: p.options.PageSize,
		promptly:        gathersPerCheckpoint * p.options.Gather,
		lease:           lease,

		writing: make(chan struct{}, 1),
	}
}

// take writes the lease with our name. It returns changefeed.ErrLeaseLost if another projector was
// faster.
func (h *heldLease) take(ctx context.Context, owner string) error { return h.setOwner(ctx, owner) }

// release writes the checkpoint and gives the lease up.
func (h *heldLease) release(ctx context.Context) error { return h.setOwner(ctx, "") }

func (h *heldLease) setOwner(ctx context.Context, owner string) error {
	h.mu.Lock()
	h.lease.Owner = owner
	h.mu.Unlock()
	return h.save(ctx)
}

// current returns the lease with its latest continuation. All changes before that continuation are
// projected.
func (h *heldLease) current() changefeed.Lease {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lease
}

// progress is how far a step has come in a change feed.
type progress struct {
	history                  string // of the lease, when the step began
	resourceID, continuation string
	position                 string               // of the page (changefeed.ChangePage)
	asOf                     blog.DateTime        // of the page
	views, written           cosmos.SessionTokens // what the step has seen of the views, and wrote to them
	changes                  int                  // that are projected
	awaited                  bool                 // clients wait until the checkpoint has these changes
}

// advance moves the checkpoint past projected changes. It writes the checkpoint if clients wait for
// it, after checkpointAfter changes, and after checkpointInterval; renewals and releases write it
// too. After a crash, the next projector reads some changes again, without effect. That costs less
// than a write for every page.
func (h *heldLease) advance(ctx context.Context, p progress) error {
	h.mu.Lock()
	if h.lease.History != p.history { // it has ended meanwhile
		h.mu.Unlock()
		return nil
	}
	if h.lease.ResourceID != p.resourceID {
		h.lease.Position, h.lease.AsOf, h.lease.Views = "", "", "" // of another container
	}
	h.lease.ResourceID, h.lease.Continuation = p.resourceID, p.continuation
	h.pass(p.position, p.asOf)
	h.lease.Show(p.views, p.written)
	h.unsaved += p.changes
	h.awaited = h.awaited || p.awaited
	h.behind = p.position == ""
	due := h.isAwaited() || h.unsaved >= h.checkpointAfter || h.now().Sub(h.saved) >= checkpointInterval
	h.mu.Unlock()
	if !due {
		return nil
	}
	return h.save(ctx)
}

// pass moves the position of the lease. Before the views are rebuilt, they may be ahead of their
// sources, and lack changes of any age. h.mu must be held.
func (h *heldLease) pass(position string, asOf blog.DateTime) {
	if h.rebuilt {
		h.lease.Pass(position, asOf)
	}
}

// follow learns the present history. If the one of the lease has ended, the lease begins again,
// unless it is valid in the present one. A history from before that of the lease was read from a
// replica that lags.
func (h *heldLease) follow(present changefeed.History) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case present.Name > h.lease.History:
		h.lease.Enter(present)
		h.rebuilt = present.IsRebuilt
	case present.Name == h.lease.History:
		h.rebuilt = h.rebuilt || present.IsRebuilt
	}
}

// gathersPerCheckpoint is the number of gather intervals between two checkpoints of changes that
// clients wait for. A write of a lease costs about 10 RU.
const gathersPerCheckpoint = 2

// isAwaited reports whether clients may wait for the checkpoint, it would help them, and the last
// one is old enough. h.mu must be held.
func (h *heldLease) isAwaited() bool {
	return h.awaited && !h.behind && h.now().Sub(h.saved) >= h.promptly
}

// atEnd notes the position of a page without changes, which renewals write. If clients wait for the
// checkpoint, atEnd writes it, or returns false because the last one is too young.
func (h *heldLease) atEnd(ctx context.Context, position string, asOf blog.DateTime) (done bool, err error) {
	h.mu.Lock()
	h.pass(position, asOf)
	h.behind = false
	awaited, due := h.awaited, h.isAwaited()
	h.mu.Unlock()
	if due {
		return true, h.save(ctx)
	}
	return !awaited, nil
}

// checkpointInterval is the longest time between checkpoints while changes arrive. Renewals write
// the checkpoint too.
const checkpointInterval = time.Second

// flush writes the checkpoint if it has advanced since the last write.
func (h *heldLease) flush(ctx context.Context) error {
	h.mu.Lock()
	unsaved := h.unsaved
	h.mu.Unlock()
	if unsaved == 0 {
		return nil
	}
	return h.save(ctx)
}

// save writes the lease in its current state, which renews it. If ctx ends during the write, save
// still waits for the answer, because releasing the lease requires its new etag. If another process
// has written the lease, save returns changefeed.ErrLeaseLost, now and on every later call.
//
// A write of a lease is not background work. At low priority, a busy account could reject renewals
// until the lease expires. Projectors would then take leases from each other and repeat work.
// Clients also wait for checkpoints.
func (h *heldLease) save(ctx context.Context) error {
	select {
	case h.writing <- struct{}{}:
		defer func() { <-h.writing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	h.mu.Lock()
	lease, unsaved, awaited, begun, lost := h.lease, h.unsaved, h.awaited, h.now(), h.lost
	if !lost && ctx.Err() == nil {
		h.awaited = awaited && h.behind
	}
	h.mu.Unlock()
	switch {
	case lost:
		return changefeed.ErrLeaseLost
	case ctx.Err() != nil:
		return ctx.Err()
	}
	ctx, cancel := context.WithTimeout(cosmos.InForeground(context.WithoutCancel(ctx)), h.writeTimeout)
	defer cancel()
	written, err := h.write(ctx, lease)
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case err == nil:
		h.lease.ETag, h.saved = written.ETag, begun
		h.unsaved -= unsaved
	case errors.Is(err, changefeed.ErrLeaseLost):
		h.lost = true
	default:
		h.awaited = h.awaited || awaited
	}
	return err
}

// check returns changefeed.ErrLeaseLost if another process has written the lease, or if the lease
// was not renewed in time, so that another projector may have taken it. It sends no requests.
func (h *heldLease) check() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lost || h.now().Sub(h.saved) >= h.expire {
		return changefeed.ErrLeaseLost
	}
	return nil
}
