package changefeed

import (
	"context"
	"encoding/base64"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
)

// Heartbeat is the sign of life of a process that holds leases: an item of leases that it writes
// every few seconds. Its leases are valid meanwhile. So an idle lease needs no writes, and the
// charge does not grow with the number of feed ranges.
type Heartbeat struct {
	Owner string         // as in Lease.Owner
	Ends  map[string]End // by the ids of leases
	// Expire is the time without another heartbeat after which others may take the leases. The process
	// itself decides: it works on them until then. Others may be set up differently.
	Expire time.Duration
	ETag   string // as read; every write changes it
}

// End says that the stored position of a lease (Lease.Position) still was the end of its feed, as
// of a time by the database's clock (Lease.AsOf).
type End struct {
	Position string        `json:"position"`
	AsOf     blog.DateTime `json:"asOf"`
}

const typeHeartbeat = "heartbeat"

// heartbeatFields are the properties of the item that those of leases do not have.
type heartbeatFields struct {
	Ends         map[string]End `json:"ends,omitempty"`
	ExpireMillis int64          `json:"expireMs,omitempty"`
}

type heartbeatItem struct {
	ID    string `json:"id"`
	Type  string `json:"type"`
	Owner string `json:"owner"`
	heartbeatFields
}

// ID returns the id and the partition key of the item. They may not have all characters of an
// owner.
func (h Heartbeat) ID() string {
	return typeHeartbeat + "." + base64.RawURLEncoding.EncodeToString([]byte(h.Owner))
}

// Beat writes a heartbeat, whatever is stored. ETag is not used.
func (f *Feeds) Beat(ctx context.Context, h Heartbeat) error {
	item := heartbeatItem{h.ID(), typeHeartbeat, h.Owner, heartbeatFields{h.Ends, h.Expire.Milliseconds()}}
	_, err := cosmos.Replace(ctx, f.leases, item.ID, item.ID, item, "")
	if cosmos.IsNotFound(err) {
		_, err = cosmos.Create(ctx, f.leases, item.ID, item)
	}
	return err
}

// DeleteHeartbeat deletes the heartbeat of a process that has ended, unless the item was written
// since it was read. If ETag is empty, it deletes it in any case. It returns nil if there is none.
func (f *Feeds) DeleteHeartbeat(ctx context.Context, h Heartbeat) error {
	err := cosmos.Delete(ctx, f.leases, h.ID(), h.ID(), azcore.ETag(h.ETag))
	if cosmos.IsNotFound(err) || cosmos.IsRaceLost(err) {
		return nil
	}
	return err
}

// date sets the time of a lease's position to that of the heartbeat, if that is later.
func (h Heartbeat) date(lease *Lease) {
	if end := h.Ends[lease.ID]; end.Position != "" && end.Position == lease.Position {
		lease.AsOf = max(lease.AsOf, end.AsOf)
	}
}
