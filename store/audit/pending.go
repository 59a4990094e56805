package audit

import (
	"context"
	"encoding/json"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

const pendingQuery = `SELECT c.id FROM c WHERE c.type IN ('sweep', 'deletion', 'purge')`

func (a *auditRun) countPending(ctx context.Context) error {
	return a.db.RetryTransient(ctx, func() error {
		a.result.Pending = 0
		for page, err := range cosmos.Pages[json.RawMessage](ctx, a.leases, azcosmos.NewPartitionKey(), pendingQuery, 0) {
			if err != nil {
				return err
			}
			a.result.Pending += int64(len(page))
		}
		return nil
	})
}

// dropPending drops the drifts that a pending sweep or purge will remove. It also drops orphans
// while a copy of another database is pending, because that copy writes a post after its
// comments and likes. It does nothing unless the comparer is fresh.
func (c comparer) dropPending(ctx context.Context, drifts []Drift) ([]Drift, error) {
	if !c.isFresh() {
		return drifts, nil
	}
	pending := map[string]bool{} // by pendingID
	var kept []Drift
	for _, d := range drifts {
		id, ok := d.pendingID()
		if !ok {
			kept = append(kept, d)
			continue
		}
		isPending, ok := pending[id]
		if !ok {
			var err error
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
const anyCopy = ""

// pendingID returns the id of the lease item whose pending work would remove the drift. It
// returns false if no work would: a sweep leaves the names of later revisions, which the database
// has lost.
func (d Drift) pendingID() (id string, ok bool) {
	switch d.Kind {
	case DriftName:
		return schema.SweepID(d.item.UserID), d.item.has("authorRevision") && d.item.AuthorRevision < d.userRevision
	case DriftReclaimable:
		return schema.SweepID(d.Is), true
	case DriftExpiry, DriftUnpurged:
		return schema.PurgeID(d.Partition), true
	case DriftOrphan:
		return anyCopy, true
	}
	return "", false
}

const copiesQuery = `SELECT c.id FROM c WHERE c.type = 'copy'`

// isPending reports whether the work of an item of leases is pending.
func (c comparer) isPending(ctx context.Context, id string) (bool, error) {
	if id == anyCopy {
		copies, err := cosmos.QueryAcross[json.RawMessage](ctx, c.leases, copiesQuery)
		return len(copies) > 0, err
	}
	work, err := c.readLeaseItem(ctx, id)
	return work != nil && work.Type != schema.TypeSwept, err
}

const etagsQuery = `SELECT c.id, c._etag FROM c`

// clearStateOfChanged reads the etags of a partition once more, after dropPending. It clears the
// source state of drifts whose items changed since they were read, because work that was pending
// then may have ended before dropPending. It does nothing unless the comparer is fresh.
func (c comparer) clearStateOfChanged(
	ctx context.Context, drifts []Drift, p *postPartition,
) ([]Drift, error) {
	if !c.isFresh() || len(drifts) == 0 {
		return drifts, nil
	}
	items, err := c.readPartition(ctx, c.posts, p.postID, etagsQuery)
	if err != nil {
		return nil, err
	}
	etags := make(map[string]azcore.ETag, len(items))
	for _, item := range items {
		etags[item.ID] = item.ETag
	}
	_, postExists := etags[p.postID]
	for i, d := range drifts {
		if etags[d.ID] != d.item.ETag || d.Kind == DriftOrphan && postExists {
			drifts[i].sourceState = ""
		}
	}
	return drifts, nil
}
