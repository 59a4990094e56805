package projector

import (
	"context"
	"errors"
	"sync"
	"time"

	"cosmosblog/store/changefeed"
)

// heldLease is a lease that this projector works on. The worker's two loops use it concurrently:
// one advances the checkpoint, the other renews the lease.
type heldLease struct {
	write           func(context.Context, changefeed.Lease) (changefeed.Lease, error) // Feeds.SaveLease
	now             func() time.Time
	expire          time.Duration
	writeTimeout    time.Duration
	checkpointAfter int // the number of changes after which the checkpoint is written

	writing chan struct{} // a semaphore of one slot: one write of the lease at a time

	mu      sync.Mutex // guards the fields below; never held during a request
	lease   changefeed.Lease
	unsaved int       // changes projected since the checkpoint was written
	saved   time.Time // when the last successful write began; the lease expires relative to this time
	lost    bool      // another process has written or deleted the lease
}

// newHeldLease prepares a listed lease to be taken.
func (p *Projector) newHeldLease(lease changefeed.Lease) *heldLease {
	return &heldLease{
		write:           p.feeds.SaveLease,
		now:             p.options.Now,
		expire:          p.options.Expire,
		writeTimeout:    p.options.Renew, // leaves time for another attempt before the lease expires
		checkpointAfter: p.options.PageSize,
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

// advance moves the checkpoint past n projected changes. It writes the checkpoint only after
// checkpointAfter changes or checkpointInterval; renewals and releases write it too. After a crash,
// the next projector reads some changes again, without effect. That costs less than a write for
// every page.
func (h *heldLease) advance(ctx context.Context, resourceID, continuation string, n int) error {
	h.mu.Lock()
	h.lease.ResourceID, h.lease.Continuation = resourceID, continuation
	h.unsaved += n
	due := h.unsaved >= h.checkpointAfter || h.now().Sub(h.saved) >= checkpointInterval
	h.mu.Unlock()
	if !due {
		return nil
	}
	return h.save(ctx)
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
func (h *heldLease) save(ctx context.Context) error {
	select {
	case h.writing <- struct{}{}:
		defer func() { <-h.writing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	h.mu.Lock()
	lease, unsaved, begun, lost := h.lease, h.unsaved, h.now(), h.lost
	h.mu.Unlock()
	switch {
	case lost:
		return changefeed.ErrLeaseLost
	case ctx.Err() != nil:
		return ctx.Err()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), h.writeTimeout)
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
