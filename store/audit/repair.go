package audit

import (
	"context"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

// maxMends is how often a subject is mended and looked at: the first time as the projector would, then also what the
// revisions forbid the projector to write. Another time what was written meanwhile may have come between.
const maxMends = 4

// Drifts looks once at a partition of posts, users or usernames, or at the feed, and gives what differs from its source
// there. Of a post that is also its copy in users, of a user also who has the username. What a projector is yet to do, or does at
// that moment, is among it.
func Drifts(ctx context.Context, db *cosmos.DB, container, partition string) ([]Drift, error) {
	return look{database: open(db)}.at(cosmos.WithSession(ctx), subject{container, partition})
}

// Repair mends what Drifts gave of the same partition, and gives what of it differs still. It may be run at any time, and
// broken off and begun again. Error: the database failed.
func Repair(ctx context.Context, db *cosmos.DB, container, partition string, drifts []Drift) (left []Drift, err error) {
	ctx = cosmos.WithSession(ctx)
	asked := make(map[place]bool, len(drifts))
	touched := make(map[place]azcore.ETag, len(drifts))
	for _, d := range drifts {
		asked[d.place()], touched[d.itemPlace()] = true, d.item.ETag
	}
	of, database := subject{container, partition}, open(db)
	for try := 0; try < maxMends && len(drifts) > 0; try++ {
		if err := (mender{database, touched, try > 0}).mend(ctx, of, drifts); err != nil && !cosmos.IsItemError(err) {
			return drifts, err
		}
		now, err := look{database: database}.at(ctx, of)
		if err != nil {
			return drifts, err
		}
		// A copy that was written over may be behind a post that changed meanwhile, in fields that were right before.
		drifts = slices.DeleteFunc(now, func(d Drift) bool {
			_, ok := touched[d.itemPlace()]
			return !ok
		})
	}
	return slices.DeleteFunc(drifts, func(d Drift) bool { return !asked[d.place()] }), nil
}

// mender mends drifts. Every write of its is conditional on what was read just before it: the revision of the source where
// that is enough, otherwise the etag of what is written over.
type mender struct {
	*database
	found map[place]azcore.ETag // the items that drift, as they were found; empty where there is none
	force bool                  // the guard by revisions did not let the copies be mended
}

func (m mender) mend(ctx context.Context, s subject, drifts []Drift) error {
	switch s.container {
	case schema.Posts:
		return m.mendPost(ctx, s.partition, drifts)
	case schema.Users:
		return m.mendUser(ctx, s.partition, drifts)
	case schema.Usernames:
		return m.store.ReclaimUsername(ctx, s.partition)
	}
	return m.mendFeed(ctx, drifts)
}

// overwrite writes the copy of a post over a copy that differs, as it was found.
func (m mender) overwrite(ctx context.Context, v views.PostView, d Drift) error {
	return m.views.Overwrite(ctx, v, d.ID, m.found[d.itemPlace()])
}

// setProperty sets one property of an item, or removes it where value is nil, where the item is as it was read.
func setProperty(ctx context.Context, c *azcosmos.ContainerClient, partition, id, path string, value any, etag azcore.ETag) error {
	var changes azcosmos.PatchOperations
	if value == nil {
		changes.AppendRemove(path)
	} else {
		changes.AppendSet(path, value)
	}
	_, err := cosmos.Patch(ctx, c, partition, id, changes, etag)
	return err
}

// removeItem deletes an item where it is as it was read.
func (d Drift) removeItem(ctx context.Context, c *azcosmos.ContainerClient) error {
	err := cosmos.Delete(ctx, c, d.Partition, d.ID, d.item.ETag)
	if cosmos.IsRaceLost(err) {
		return nil // the next look tells what it is now
	}
	return err
}
