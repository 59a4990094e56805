package projector

import (
	"context"
	"errors"
	"sync"
	"time"

	"cosmosblog/store/changefeed"
)

// heldLease is a lease that this projector works on. The worker's loops advance its checkpoint
// and renew it concurrently.
type heldLease struct {
	write           func(context.Context, changefeed.Lease) (changefeed.Lease, error) // Store.SaveLease
	now             func() time.Time
	expire          time.Duration
	writeTimeout    time.Duration
	checkpointAfter int // changes, at least

	writing chan struct{} // a mutex with one place: held while the lease is written

	mu      sync.Mutex // guards the fields below; never held during a request
	lease   changefeed.Lease
	unsaved int       // changes by which the continuation is ahead of the written checkpoint
	saved   time.Time // start of the last write: the expiry counts from then
	lost    bool      // another owner wrote the lease
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

// current returns the lease with its latest continuation. All changes before that are
// projected.
func (h *heldLease) current() changefeed.Lease {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lease
}

// advance moves the checkpoint over n projected changes. It writes the checkpoint only after
// checkpointAfter changes or checkpointInterval. Renewals and releases write it too. A write
// for every page would cost more than the changes that are read again after a crash, which
// change nothing.
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

// checkpointInterval is the time after which the checkpoint of a quiet feed is written.
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

// save writes the lease in its current state, and so renews it. If ctx ends meanwhile, save
// still waits for the answer: the lease could not be released without its new etag. It returns
// changefeed.ErrLeaseLost, then and on every later call, if another owner wrote the lease.
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

// check returns changefeed.ErrLeaseLost if another owner wrote the lease, or if the last renewal is
// so long ago that another may have taken it.
func (h *heldLease) check() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lost || h.now().Sub(h.saved) >= h.expire {
		return changefeed.ErrLeaseLost
	}
	return nil
}
