package changefeed

import (
	"context"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/follow"
)

// Lease assigns a part of the projector's work to a process, and stores the progress of that part.
// There is one lease for each feed range of users and posts, and one for each kind of chore.
type Lease struct {
	ID           string
	Container    string // whose change feed is read; empty for a chore
	Range        follow.FeedRange
	ResourceID   string // of the container that Continuation belongs to
	Continuation string // the checkpoint; empty before the first one
	Owner        string // empty if no process owns the lease
	ETag         string // as read; every write changes it

	History string // the name of the history to which Continuation and all below belong

	// Position is a session token: all changes up to it are projected. It names the partition key
	// range of the lease, and those that the range was a part of before splits, each with the same log
	// sequence number: a split does not begin the numbers anew. It is empty if it is unknown.
	Position string
	// AsOf is the time by the database's clock at which the page that ended at Position was asked for.
	// So Position includes nothing that was written much later: if the database has gone back to an
	// earlier state since, the same number is that of another change. Empty if Position is.
	AsOf blog.DateTime
	// Views are the session tokens (cosmos.SessionTokens) of the views after these changes. A read
	// with them shows the changes, also if a replica lags.
	Views string
	// IsExact is whether nobody has projected changes after Continuation: the lease was released after
	// all its work had ended. The next holder then repeats no work of another.
	IsExact bool
}

// Begin makes the lease one of a history in which nothing is projected yet. Its feed is then read
// from the present on: a rebuild of the views covers what is there. A lease that was never read
// still begins at the beginning of its feed.
func (l *Lease) Begin(history string) {
	l.History, l.Position, l.AsOf, l.Views, l.IsExact = history, "", "", "", false
	if l.Continuation != "" {
		l.Continuation = follow.ContinuationFromNow(l.ResourceID, l.Range)
	}
}

// Enter makes the lease one of the present history. It is valid there if the history keeps the
// leases of its own one, and otherwise begins (Begin).
func (l *Lease) Enter(present History) {
	if !present.keepsLeasesOf(l.History) {
		l.Begin(present.Name)
	}
	l.History = present.Name
}

// Pass moves the position to that of a page (ChangePage.Position) that was read at a time by the
// database's clock, unless it is later already. All ranges that the position names get the number
// of the page's range, which continues them.
func (l *Lease) Pass(position string, asOf blog.DateTime) {
	ranges := cosmos.SessionToken{}
	ranges.Merge(l.Position)
	id, number, ok := strings.Cut(position, ":")
	if !ok {
		return
	}
	if ranges.Covers(position) {
		if ranges[id] == number {
			l.AsOf = max(l.AsOf, asOf)
		}
		return
	}
	ranges[id] = number
	for former := range ranges {
		ranges[former] = number
	}
	l.Position, l.AsOf = ranges.String(), asOf
}

// maxViewRanges is the number of partition key ranges of a view whose states a lease stores.
const maxViewRanges = 64

// Show adds states of views that the lease's changes have reached: what a reader has seen of the
// views, and the states among them that its own writes produced. In the ranges of its writes, they
// replace what is stored, even if their numbers are lower: the numbers begin anew if a view's
// container is deleted and created again. If there are too many ranges, only the new ones stay: the
// others reached all replicas long ago.
func (l *Lease) Show(seen, written cosmos.SessionTokens) {
	if len(seen) == 0 {
		return
	}
	views, err := cosmos.ParseSessionTokens(l.Views)
	if err != nil {
		views = cosmos.SessionTokens{}
	}
	for view, token := range written {
		for id := range token {
			delete(views[view], id)
		}
	}
	views.Merge(seen)
	for view, token := range views {
		if len(token) > maxViewRanges && len(seen[view]) > 0 {
			views[view] = seen[view]
		}
	}
	l.Views = views.String()
}

// ErrLeaseLost reports that a process no longer holds a lease. Another process has written or
// deleted the lease since it was read, or the holder's heartbeats were too late.
var ErrLeaseLost = cosmos.NewDefiniteError("changefeed: lease lost: taken by another projector or not renewed in time")

const (
	typeLease = "lease"

	leasesQuery = `SELECT * FROM c WHERE c.type IN ('lease', 'history', 'heartbeat')`
)

type leaseItem struct {
	ID           string           `json:"id"`
	Type         string           `json:"type"`
	Container    string           `json:"container,omitempty"`
	Range        follow.FeedRange `json:"range"`
	ResourceID   string           `json:"resourceId,omitempty"`
	Continuation string           `json:"continuation,omitempty"`
	History      string           `json:"history,omitempty"`
	Position     string           `json:"position,omitempty"`
	AsOf         string           `json:"asOf,omitempty"`
	Views        string           `json:"views,omitempty"`
	IsExact      bool             `json:"isExact,omitempty"`
	Owner        string           `json:"owner"`
	ETag         string           `json:"_etag,omitempty"`
}

// Listing is what one query reads. It is not a snapshot.
type Listing struct {
	// Leases are all leases, in no order. One that belongs to a history that has ended is returned as
	// Lease.Enter leaves it.
	Leases     []Lease
	History    History              // the present one
	Heartbeats map[string]Heartbeat // by owner
}

// Leases returns the leases of List.
func (f *Feeds) Leases(ctx context.Context) ([]Lease, error) {
	listing, err := f.List(ctx)
	return listing.Leases, err
}

// List lists the leases, the present history, and the heartbeats of projectors.
func (f *Feeds) List(ctx context.Context) (Listing, error) {
	items, err := cosmos.QueryAcross[listedItem](ctx, f.leases, leasesQuery)
	if err != nil {
		return Listing{}, err
	}
	l := Listing{Leases: make([]Lease, 0, len(items)), History: noHistoryEnded, Heartbeats: map[string]Heartbeat{}}
	for _, item := range items {
		switch item.Type {
		case typeHistory:
			l.History = item.history(azcore.ETag(item.ETag))
		case typeHeartbeat:
			l.Heartbeats[item.Owner] = Heartbeat{item.Owner, item.Ends, time.Duration(item.ExpireMillis) * time.Millisecond, item.ETag}
		default:
			l.Leases = append(l.Leases, item.leaseItem.lease())
		}
	}
	if l.History, err = f.atLeast(ctx, l.History, l.Leases); err != nil {
		return Listing{}, err
	}
	for i := range l.Leases {
		lease := &l.Leases[i]
		l.Heartbeats[lease.Owner].date(lease)
		lease.Enter(l.History)
	}
	return l, nil
}

// atLeast returns a listed history, or the present one if a lease that was listed with it is of a
// later one: the history ended during the listing, or a replica that lags answered for the item.
func (f *Feeds) atLeast(ctx context.Context, listed History, leases []Lease) (History, error) {
	latest := listed.Name
	for _, lease := range leases {
		latest = max(latest, lease.History)
	}
	if latest == listed.Name {
		return listed, nil
	}
	present, err := f.History(ctx)
	if err == nil && present.Name < latest { // the replica still lags, so this is an account
		present = History{Name: latest, leasesSince: latest}
	}
	return present, err
}

// listedItem is an item that leasesQuery returns.
type listedItem struct {
	leaseItem
	historyFields
	heartbeatFields
}

// CreateLease creates a lease. It changes nothing if a lease with its id exists.
func (f *Feeds) CreateLease(ctx context.Context, lease Lease) error {
	_, err := cosmos.Create(ctx, f.leases, lease.ID, lease.item())
	if cosmos.IsConflict(err) {
		return nil
	}
	return err
}

// SaveLease writes a lease if it was not written since it was read or saved, and returns it with
// its new etag. It is used to acquire and release a lease, and to save a checkpoint. Error:
// ErrLeaseLost if another process wrote or deleted the lease, or if an earlier SaveLease of this
// process wrote it but its answer was lost.
func (f *Feeds) SaveLease(ctx context.Context, lease Lease) (Lease, error) {
	etag, err := cosmos.Replace(ctx, f.leases, lease.ID, lease.ID, lease.item(), azcore.ETag(lease.ETag))
	if cosmos.IsRaceLost(err) {
		return lease, ErrLeaseLost
	}
	if err == nil {
		lease.ETag = string(etag)
	}
	return lease, err
}

// DeleteLease deletes a lease if it was not written since it was read or saved. It returns nil
// if there is none. Error: ErrLeaseLost.
func (f *Feeds) DeleteLease(ctx context.Context, lease Lease) error {
	err := cosmos.Delete(ctx, f.leases, lease.ID, lease.ID, azcore.ETag(lease.ETag))
	switch {
	case cosmos.IsNotFound(err):
		return nil
	case cosmos.IsRaceLost(err):
		return ErrLeaseLost
	}
	return err
}

func (l Lease) item() leaseItem {
	return leaseItem{ID: l.ID, Type: typeLease, Container: l.Container, Range: l.Range, ResourceID: l.ResourceID, Continuation: l.Continuation,
		History: l.History, Position: l.Position, AsOf: string(l.AsOf), Views: l.Views, IsExact: l.IsExact, Owner: l.Owner}
}

func (i leaseItem) lease() Lease {
	return Lease{ID: i.ID, Container: i.Container, Range: i.Range, ResourceID: i.ResourceID, Continuation: i.Continuation,
		History: i.History, Position: i.Position, AsOf: blog.DateTime(i.AsOf), Views: i.Views, IsExact: i.IsExact, Owner: i.Owner, ETag: i.ETag}
}
