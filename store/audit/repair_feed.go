package audit

import (
	"context"

	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
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
		if err != nil && !cosmos.IsItemError(err) {
			return err
		}
	}
	for _, d := range drifts {
		var err error
		switch d.Kind {
		case DriftSurplus:
			err = m.clearBelowHorizon(ctx)
		case DriftOrphan, DriftDuplicate:
			err = d.removeItem(ctx, m.feed)
		case DriftExpiry:
			err = m.mendFeedExpiry(ctx, d)
		}
		if err != nil && !cosmos.IsItemError(err) {
			return err
		}
	}
	return nil
}

// mendFeedCopy writes the copy of a post that is in the feed or should be.
func (m mender) mendFeedCopy(ctx context.Context, d Drift) error {
	err := m.views.ReturnToFeed(ctx, d.ID)
	if !m.force || err != nil && !cosmos.IsItemError(err) { // a copy that cannot be read is not projected
		return err
	}
	return m.overwrite(ctx, m.views.FeedView(), d)
}

func (m mender) mendFeedExpiry(ctx context.Context, d Drift) error {
	if d.item.Deleted {
		return setProperty(ctx, m.feed, schema.FeedPartition, d.ID, "/ttl", int(views.DeletedTTL.Seconds()), d.item.ETag)
	}
	return setProperty(ctx, m.feed, schema.FeedPartition, d.ID, "/ttl", nil, d.item.ETag)
}

// clearBelowHorizon has the trigger delete what lies below the horizon: whoever fills the feed meanwhile begins anew.
func (m mender) clearBelowHorizon(ctx context.Context) error {
	return cosmos.RetryOnConflict(func() error {
		horizon, etag, err := m.views.ReadHorizon(ctx)
		if err != nil || etag == "" {
			return err
		}
		return m.views.MoveHorizon(ctx, horizon.Position(), etag)
	})
}

// moveHorizon puts the horizon where it should be, in the order of RefillFeed: the posts that are to be above it are in the
// feed before it is lowered. Those that are above it only since then, whose projection had found them below, come after it. Where
// it was written meanwhile, also by what this makes the trigger trim, it is begun anew.
func (m mender) moveHorizon(ctx context.Context) error {
	err := cosmos.RetryOnConflict(func() error {
		f, err := look{database: m.database}.feedState(ctx)
		if err != nil || f.should == f.horizon {
			return err
		}
		return m.moveHorizonOnce(ctx, f)
	})
	if err != nil {
		return err
	}
	f, err := look{database: m.database}.feedState(ctx)
	if err != nil {
		return err
	}
	return m.bringToFeed(ctx, f.absent())
}

func (m mender) moveHorizonOnce(ctx context.Context, f feedState) (err error) {
	to, etag := f.should.Position(), f.etag
	if views.CompareNewestFirst(to, f.horizon.Position()) > 0 {
		if etag, err = m.views.MarkRefill(ctx, f.horizon, etag, to); err != nil {
			return err
		}
	}
	if err := m.bringToFeed(ctx, f.posts); err != nil {
		return err
	}
	return m.views.MoveHorizon(ctx, to, etag)
}

func (m mender) bringToFeed(ctx context.Context, posts []*auditedItem) error {
	for _, post := range posts {
		if err := m.views.ReturnToFeed(ctx, post.ID); err != nil {
			return err
		}
	}
	return nil
}
