package projector

import (
	"context"
	"sync"
	"time"

	"cosmosblog/store"
)

// heldLease is a lease that this projector works on. The worker and the loop that renews write it by turns.
type heldLease struct {
	store  *store.Store
	now    func() time.Time
	expire time.Duration
	often  int // a checkpoint is written after so many changes at least

	mu    sync.Mutex // held while the lease is written
	lease store.Lease
	ahead int       // how many changes the continuation is ahead of what is written
	saved time.Time // when the last write began: from then on others count
}

// take writes the lease with our name. Error: store.ErrLeaseLost where somebody else was faster.
func (h *heldLease) take(ctx context.Context, owner string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lease.Owner = owner
	return h.save(ctx)
}

// renew writes the lease, and with it the checkpoint.
func (h *heldLease) renew(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.save(ctx)
}

// release writes the checkpoint and gives the lease up.
func (h *heldLease) release(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lease.Owner = ""
	return h.save(ctx)
}

// position gives the container and the continuation to read on from.
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
	defer h.mu.Unlock()
	h.lease.ResourceID, h.lease.Continuation = resourceID, continuation
	h.ahead += n
	if h.ahead < h.often && h.now().Sub(h.saved) < checkpointEvery {
		return nil
	}
	return h.save(ctx)
}

// flush writes the checkpoint where it is ahead of what is written.
func (h *heldLease) flush(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ahead == 0 {
		return nil
	}
	return h.save(ctx)
}

// checkpointEvery is how often the checkpoint of a feed is written in which little is new.
const checkpointEvery = time.Second

// save is called with mu held.
func (h *heldLease) save(ctx context.Context) error {
	begun := h.now()
	lease, err := h.store.SaveLease(ctx, h.lease)
	if err != nil {
		return err
	}
	h.lease, h.saved, h.ahead = lease, begun, 0
	return nil
}

// check gives store.ErrLeaseLost where the lease was not renewed for so long that others may have taken it.
func (h *heldLease) check() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.now().Sub(h.saved) >= h.expire {
		return store.ErrLeaseLost
	}
	return nil
}
