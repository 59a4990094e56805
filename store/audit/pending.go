package audit

import (
	"context"
	"encoding/json"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

const pendingQuery = `SELECT c.id FROM c WHERE c.type IN ('sweep', 'deletion', 'purge')`

func (a *auditRun) countPending(ctx context.Context) error {
	return a.db.RetryTransient(ctx, func() error {
		a.result.Pending = 0
		for page, err := range cosmos.Pages[json.RawMessage](ctx, a.db.Container(schema.Leases), azcosmos.NewPartitionKey(), pendingQuery, 0) {
			if err != nil {
				return err
			}
			a.result.Pending += int64(len(page))
		}
		return nil
	})
}

// dropPending drops the drifts that a pending sweep, deletion or purge will remove. It also drops
// orphans in posts while a copy of another database is pending, because that copy writes a post
// after its comments and likes.
func (c comparer) dropPending(ctx context.Context, drifts []Drift) (kept []Drift, err error) {
	pending := map[string]bool{"": false} // by pendingID
	for _, d := range drifts {
		id := d.pendingID()
		isPending, ok := pending[id]
		if !ok {
			if isPending, err = c.isPending(ctx, id); err != nil {
				return nil, err
			}
			pending[id] = isPending
		}
		if !isPending {
			kept = append(kept, d)
		}
	}
	return kept, nil
}

// anyCopy is the pendingID of all copies into this database. A checkpoint's id names its
// source, which is unknown here.
const anyCopy = "copy"

// pendingID returns the id of the lease item whose pending work would remove the drift. It is empty
// if no work would: a sweep leaves the names of later revisions, which the database has lost.
func (d Drift) pendingID() string {
	switch isInPosts := d.Container == schema.Posts; {
	case d.Kind == DriftName && d.item.isBefore(d.revision):
		return schema.SweepID(d.item.UserID)
	case d.Kind == DriftReclaimable:
		return schema.SweepID(d.Is)
	case isInPosts && (d.Kind == DriftExpiry || d.Kind == DriftUnpurged):
		return schema.PurgeID(d.Partition)
	case d.Kind == DriftExpiry && d.item.Deleted && d.ID == d.Partition:
		return schema.DeletionID(d.ID)
	case isInPosts && d.Kind == DriftOrphan:
		return anyCopy
	}
	return ""
}

const copiesQuery = `SELECT c.id FROM c WHERE c.type = 'copy'`

// isPending reports whether the work of an item of leases is pending.
func (c comparer) isPending(ctx context.Context, id string) (bool, error) {
	if id == anyCopy {
		copies, err := cosmos.QueryAcross[json.RawMessage](ctx, c.db.Container(schema.Leases), copiesQuery)
		return len(copies) > 0, err
	}
	work, err := c.readItem(ctx, schema.Leases, id, id)
	return err == nil && work.exists() && work.Type != schema.TypeSwept, err
}
