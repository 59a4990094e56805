package store

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
)

// mendFeed mends the feed. What is missing comes before what is too much goes, so that the feed never has a gap.
func (m mender) mendFeed(ctx context.Context, drifts []Drift) error {
	for _, d := range drifts {
		var err error
		switch d.Kind {
		case DriftHorizon:
			err = m.moveHorizon(ctx)
		case DriftMissing, DriftCopy, DriftUnreadable:
			err = m.mendFeedCopy(ctx, d)
		}
		if err != nil && !ConcernsItem(err) {
			return err
		}
	}
	for _, d := range drifts {
		var err error
		switch d.Kind {
		case DriftOrphan, DriftDuplicate, DriftSurplus:
			err = d.removeItem(ctx, m.feed)
		case DriftExpiry:
			err = m.mendFeedExpiry(ctx, d)
		}
		if err != nil && !ConcernsItem(err) {
			return err
		}
	}
	return nil
}

// mendFeedCopy writes the copy of a post that is in the feed or should be.
func (m mender) mendFeedCopy(ctx context.Context, d Drift) error {
	err := m.returnToFeed(ctx, d.ID)
	if !m.force || err != nil && !ConcernsItem(err) { // a copy that cannot be read is not projected
		return err
	}
	v := m.feedView()
	return m.rewriteCopy(ctx, v, d, v.write)
}

func (m mender) mendFeedExpiry(ctx context.Context, d Drift) error {
	if d.item.Deleted {
		return setProperty(ctx, m.feed, feedPartition, d.ID, "/ttl", int(DeletedTTL.Seconds()), d.item.ETag)
	}
	return setProperty(ctx, m.feed, feedPartition, d.ID, "/ttl", nil, d.item.ETag)
}

// moveHorizon puts the horizon where it should be, in the order of RefillFeed: the posts that are to be above it are in the
// feed before it is lowered. Those that are above it only since then, whose projection had found them below, come after it. Where
// it was moved meanwhile, it stays.
func (m mender) moveHorizon(ctx context.Context) error {
	f, err := look{Store: m.Store}.feedState(ctx)
	if err != nil || f.should == f.horizon {
		return err
	}
	if err := m.bringToFeed(ctx, f.posts); err != nil {
		return err
	}
	if err := m.putHorizon(ctx, f.should, f.etag); err != nil {
		return err
	}
	if f, err = (look{Store: m.Store}).feedState(ctx); err != nil {
		return err
	}
	return m.bringToFeed(ctx, f.absent())
}

func (m mender) bringToFeed(ctx context.Context, posts []*auditedItem) error {
	for _, post := range posts {
		if err := m.returnToFeed(ctx, post.ID); err != nil {
			return err
		}
	}
	return nil
}

// putHorizon writes the horizon over the one with the etag, or where there is none. A horizon before all posts is none.
func (m mender) putHorizon(ctx context.Context, horizon horizonItem, etag azcore.ETag) (err error) {
	switch {
	case etag == "":
		_, err = create(ctx, m.feed, feedPartition, horizon)
	case horizon.CreationDate == "":
		err = remove(ctx, m.feed, feedPartition, horizonID, etag)
	default:
		_, err = replace(ctx, m.feed, feedPartition, horizonID, horizon, etag)
	}
	return err
}
