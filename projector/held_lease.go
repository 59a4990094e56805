package projector

import (
	"context"
	"errors"
	"sync"
	"time"

	"cosmosblog/blog"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
)

// heldLease is a lease that this projector works on. It may be used concurrently.
type heldLease struct {
	write           func(context.Context, changefeed.Lease) (changefeed.Lease, error) // Feeds.SaveLease
	now             func() time.Time
	pulse           *pulse        // of the projector
	lapse           int           // of the pulse, before the lease was taken
	renew           time.Duration // the shortest time between two writes without changes
	writeTimeout    time.Duration // of a write
	checkpointAfter int           // the number of changes after which the checkpoint is written
	promptly        time.Duration // the shortest time between two checkpoints that clients wait for

	writing chan struct{} // a semaphore of one slot: one write of the lease at a time

	mu      sync.Mutex // guards the fields below; never held during a request
	lease   changefeed.Lease
	unsaved int              // changes projected since the checkpoint was written
	awaited bool             // clients may wait for the checkpoint (progress.awaited)
	behind  bool             // the position lacks some of the projected changes, until a page is at the end
	saved   time.Time        // when the last successful write began
	stored  changefeed.Lease // as of that write
	ended   time.Time        // when the latest page without changes was read
	known   time.Time        // when the latest request began that showed that the lease is ours
	lost    bool             // another process has written or deleted the lease
	rebuilt bool             // the views are rebuilt since the lease's history began (History.IsRebuilt)

	repeats   bool      // an earlier attempt may have projected changes that are read again
	attempted time.Time // when an earlier attempt may last have begun
}

// newHeldLease prepares a listed lease to be taken.
func (p *Projector) newHeldLease(lease changefeed.Lease) *heldLease {
	return &heldLease{
		rebuilt:         p.history.IsRebuilt && p.history.Name == lease.History,
		write:           p.feeds.SaveLease,
		now:             p.options.Now,
		pulse:           p.pulse,
		lapse:           p.pulse.lapses(),
		renew:           p.options.Renew,
		writeTimeout:    p.options.writeTimeout(),
		checkpointAfter: p.options.PageSize,
		promptly:        gathersPerCheckpoint * p.options.Gather,
		lease:           lease,
		repeats:         !lease.IsExact,
		attempted:       p.options.Now(),

		writing: make(chan struct{}, 1),
	}
}

// take writes the lease with our name. It returns changefeed.ErrLeaseLost if another projector was
// faster.
func (h *heldLease) take(ctx context.Context, owner string) error {
	return h.setOwner(ctx, owner, false)
}

// release writes the checkpoint and gives the lease up. hasEnded reports whether its work has
// ended.
func (h *heldLease) release(ctx context.Context, hasEnded bool) error {
	return h.setOwner(ctx, "", hasEnded && !h.mayRepeat())
}

func (h *heldLease) setOwner(ctx context.Context, owner string, isExact bool) error {
	h.mu.Lock()
	h.lease.Owner, h.lease.IsExact = owner, isExact
	h.mu.Unlock()
	return h.save(ctx)
}

// mayRepeat reports whether the next changes may repeat the work of an earlier attempt: of a step
// that failed, or of a former holder of the lease that did not release it.
func (h *heldLease) mayRepeat() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.repeats
}

// noteAttempt notes that a step failed, and may have projected some of its changes.
func (h *heldLease) noteAttempt() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.repeats, h.attempted = true, h.now()
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
// it, after checkpointAfter changes, and after checkpointInterval; atEnd and releases write it too.
// After a crash, the next projector reads some changes again, without effect. That costs less than
// a write for every page.
func (h *heldLease) advance(ctx context.Context, p progress) error {
	h.mu.Lock()
	if h.lease.History != p.history { // it has ended meanwhile: the page is read again
		h.mu.Unlock()
		h.noteAttempt()
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
// clients wait for. A write of a lease costs about 5 RU.
const gathersPerCheckpoint = 2

// isAwaited reports whether clients may wait for the checkpoint, it would help them, and the last
// one is old enough. h.mu must be held.
func (h *heldLease) isAwaited() bool {
	return h.awaited && !h.behind && h.now().Sub(h.saved) >= h.promptly
}

// atEnd notes the position of a page without changes, and writes the checkpoint if it lacks changes
// for a while, or a position for longer. If clients wait for the checkpoint, atEnd writes
// it, or returns false because the last one is too young.
func (h *heldLease) atEnd(ctx context.Context, position string, asOf blog.DateTime) (done bool, err error) {
	h.mu.Lock()
	h.pass(position, asOf)
	h.behind, h.ended = false, h.now()
	age := h.now().Sub(h.saved)
	due := h.isAwaited() || h.unsaved > 0 && age >= min(checkpointInterval, h.renew) ||
		h.lease.Position != h.stored.Position && age >= h.renew || h.lease.History != h.stored.History
	awaited := h.awaited
	h.mu.Unlock()
	if due {
		return true, h.save(ctx)
	}
	return !awaited, nil
}

// noteEnd notes that a page has no changes.
func (h *heldLease) noteEnd() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = h.now()
}

// noteNew notes that all changes up to those of a page that was asked for at a time are projected,
// and that it ended at the end of the feed. What comes after it is new, unless an earlier attempt
// may still have been under way, or a replica may have lagged behind what that has read.
func (h *heldLease) noteNew(at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if at.Sub(h.attempted) >= 2*h.pulse.expire {
		h.repeats = false
	}
}

// endReached returns when the feed was last found to have no more changes.
func (h *heldLease) endReached() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ended
}

// end returns the stored position of the lease, and the time of the latest page that ended there.
// It returns false if the lease has moved since it was stored.
func (h *heldLease) end() (changefeed.End, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	isStored := h.lease.Position != "" && h.lease.Position == h.stored.Position && h.lease.History == h.stored.History
	return changefeed.End{Position: h.lease.Position, AsOf: h.lease.AsOf}, isStored
}

// checkpointInterval is the longest time between checkpoints while changes arrive.
const checkpointInterval = time.Second

// flush writes the checkpoint if it has advanced since the last write, and that has an age at
// least.
func (h *heldLease) flush(ctx context.Context, age time.Duration) error {
	h.mu.Lock()
	isDue := h.unsaved > 0 && h.now().Sub(h.saved) >= age
	h.mu.Unlock()
	if !isDue {
		return nil
	}
	return h.save(ctx)
}

// save writes the lease in its current state. If ctx ends during the write, save
// still waits for the answer, because releasing the lease requires its new etag. If another process
// has written the lease, save returns changefeed.ErrLeaseLost, now and on every later call.
//
// A write of a lease is not background work: clients wait for checkpoints.
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
		h.lease.ETag, h.saved, h.stored, h.known = written.ETag, begun, lease, begun
		h.unsaved -= unsaved
	case errors.Is(err, changefeed.ErrLeaseLost):
		h.lost = true
	default:
		h.awaited = h.awaited || awaited
	}
	return err
}

// isOurs notes that a listing that began at a time shows the lease as ours.
func (h *heldLease) isOurs(at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.known = at
}

// check returns changefeed.ErrLeaseLost if another process has written the lease, or may have: it
// was not known to be ours for too long, or the projector's pulse has lapsed. It sends no requests.
func (h *heldLease) check() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.now()
	if h.lost || now.Sub(h.known) >= h.pulse.expire || !h.pulse.isAlive(h.lapse, now) {
		return changefeed.ErrLeaseLost
	}
	return nil
}
