package changefeed

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"cosmosblog/store/cosmos"
)

// Lease says who does a piece of the projector's work, and how far it is done: one for each feed range of users and
// posts, and one for each chore that a single process should do.
type Lease struct {
	ID           string
	Container    string // whose changes are read; empty for a chore
	Range        FeedRange
	ResourceID   string // of the container that Continuation belongs to
	Continuation string // the checkpoint; empty before the first
	Owner        string // empty where nobody has it
	ETag         string // as it was read; another with every write
}

// ErrLeaseLost tells that a lease was written by somebody else since it was read, or is gone.
var ErrLeaseLost = cosmos.NewConclusion("changefeed: another process owns the lease")

const (
	typeLease = "lease"

	leasesQuery = `SELECT * FROM c WHERE c.type = 'lease'`
)

type leaseItem struct {
	ID           string    `json:"id"`
	Type         string    `json:"type"`
	Container    string    `json:"container,omitempty"`
	Range        FeedRange `json:"range"`
	ResourceID   string    `json:"resourceId,omitempty"`
	Continuation string    `json:"continuation,omitempty"`
	Owner        string    `json:"owner"`
	ETag         string    `json:"_etag,omitempty"`
}

// Leases lists all leases, in no order.
func (s *Feeds) Leases(ctx context.Context) ([]Lease, error) {
	items, err := cosmos.QueryAcross[leaseItem](ctx, s.leases, leasesQuery)
	leases := make([]Lease, len(items))
	for i, item := range items {
		leases[i] = item.lease()
	}
	return leases, err
}

// CreateLease writes a new lease. One that is there already stays as it is.
func (s *Feeds) CreateLease(ctx context.Context, lease Lease) error {
	_, err := cosmos.Create(ctx, s.leases, lease.ID, lease.item())
	if cosmos.IsConflict(err) {
		return nil
	}
	return err
}

// SaveLease writes a lease that was read or saved before, and gives it back with its new etag: to take it, to renew it,
// to write a checkpoint, or to give it up. Error: ErrLeaseLost where somebody else wrote it meanwhile; also where an
// earlier call of ours was carried out and its answer got lost.
func (s *Feeds) SaveLease(ctx context.Context, lease Lease) (Lease, error) {
	etag, err := cosmos.Replace(ctx, s.leases, lease.ID, lease.ID, lease.item(), azcore.ETag(lease.ETag))
	if cosmos.IsRaceLost(err) {
		return lease, ErrLeaseLost
	}
	if err == nil {
		lease.ETag = string(etag)
	}
	return lease, err
}

// DeleteLease deletes a lease as it was read or saved. One that is gone is no error. Error: ErrLeaseLost where somebody
// else wrote it meanwhile.
func (s *Feeds) DeleteLease(ctx context.Context, lease Lease) error {
	err := cosmos.Delete(ctx, s.leases, lease.ID, lease.ID, azcore.ETag(lease.ETag))
	switch {
	case cosmos.IsNotFound(err):
		return nil
	case cosmos.IsRaceLost(err):
		return ErrLeaseLost
	}
	return err
}

func (l Lease) item() leaseItem {
	return leaseItem{ID: l.ID, Type: typeLease, Container: l.Container, Range: l.Range, ResourceID: l.ResourceID,
		Continuation: l.Continuation, Owner: l.Owner}
}

func (i leaseItem) lease() Lease {
	return Lease{ID: i.ID, Container: i.Container, Range: i.Range, ResourceID: i.ResourceID,
		Continuation: i.Continuation, Owner: i.Owner, ETag: i.ETag}
}
