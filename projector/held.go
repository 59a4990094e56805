package projector

import (
	"context"
	"errors"
	"sync"
	"time"

	"cosmosblog/store"
)

// heldLease is a lease that this projector works on. Its worker moves the checkpoint, and its keeper renews it, each when
// it likes.
type heldLease struct {
	write  func(context.Context, store.Lease) (store.Lease, error) // Store.SaveLease
	now    func() time.Time
	expire time.Duration
	answer time.Duration // how long the answer to a write may take
	often  int           // a checkpoint is written after so many changes at least

	writing chan struct{} // holds one thing while the lease is written

	mu    sync.Mutex // held while what follows is read or changed, and never while a request is under way
	lease store.Lease
	ahead int       // how many changes the continuation is ahead of what is written
	saved time.Time // when the last write began: from then on others count
	lost  bool      // somebody else wrote it
}

// newHeldLease makes a lease that was listed one that may be taken.
func (p *Projector) newHeldLease(lease store.Lease) *heldLease {
	return &heldLease{
		write:  p.options.Store.SaveLease,
		now:    p.options.Now,
		expire: p.options.Expire,
		answer: p.options.Renew, // so that there is time for another try before the lease expires
		often:  p.options.PageSize,
		lease:  lease,

		writing: make(chan struct{}, 1),
	}
}

// take writes the lease with our name. Error: store.ErrLeaseLost where somebody else was faster.
func (h *heldLease) take(ctx context.Context, owner string) error { return h.give(ctx, owner) }

// release writes the checkpoint and gives the lease up.
func (h *heldLease) release(ctx context.Context) error { return h.give(ctx, "") }

func (h *heldLease) give(ctx context.Context, owner string) error {
	h.mu.Lock()
	h.lease.Owner = owner
	h.mu.Unlock()
	return h.save(ctx)
}

// position gives the container and the continuation to read on from. All before it is projected.
func (h *heldLease) position() store.Lease {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lease
}

// advance moves the checkpoint over n changes, which are all projected. It is written after many of them or some time,
// and when the lease is renewed or given up: what a crash makes us read again changes nothing, and where few things
// change often, a write for every page would cost more than that.
func (h *heldLease) advance(ctx context.Context, resourceID, continuation string, n int) error {
	h.mu.Lock()
	h.lease.ResourceID, h.lease.Continuation = resourceID, continuation
	h.ahead += n
	due := h.ahead >= h.often || h.now().Sub(h.saved) >= checkpointEvery
	h.mu.Unlock()
	if !due {
		return nil
	}
	return h.save(ctx)
}

// checkpointEvery is how often the checkpoint of a feed is written in which little is new.
const checkpointEvery = time.Second

// flush writes the checkpoint where it is ahead of what is written.
func (h *heldLease) flush(ctx context.Context) error {
	h.mu.Lock()
	ahead := h.ahead
	h.mu.Unlock()
	if ahead == 0 {
		return nil
	}
	return h.save(ctx)
}

// save writes the lease as it stands, and so renews it. Where ctx ends meanwhile, the answer is waited for all the same:
// without the new etag, the lease could not be given up. Error: store.ErrLeaseLost, from then on always, where somebody
// else wrote it.
func (h *heldLease) save(ctx context.Context) error {
	select {
	case h.writing <- struct{}{}:
		defer func() { <-h.writing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	h.mu.Lock()
	lease, ahead, begun, lost := h.lease, h.ahead, h.now(), h.lost
	h.mu.Unlock()
	switch {
	case lost:
		return store.ErrLeaseLost
	case ctx.Err() != nil:
		return ctx.Err()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), h.answer)
	defer cancel()
	written, err := h.write(ctx, lease)
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case err == nil:
		h.lease.ETag, h.saved = written.ETag, begun
		h.ahead -= ahead
	case errors.Is(err, store.ErrLeaseLost):
		h.lost = true
	}
	return err
}

// check gives store.ErrLeaseLost where somebody else wrote the lease, or it was not renewed for so long that others may
// have taken it.
func (h *heldLease) check() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lost || h.now().Sub(h.saved) >= h.expire {
		return store.ErrLeaseLost
	}
	return nil
}
