package store

import "context"

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
		case DriftSurplus:
			err = m.clearBelowHorizon(ctx)
		case DriftOrphan, DriftDuplicate:
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
	return m.rewriteCopy(ctx, m.feedView(), d, m.writeFeedCopy)
}

func (m mender) mendFeedExpiry(ctx context.Context, d Drift) error {
	if d.item.Deleted {
		return setProperty(ctx, m.feed, feedPartition, d.ID, "/ttl", int(DeletedTTL.Seconds()), d.item.ETag)
	}
	return setProperty(ctx, m.feed, feedPartition, d.ID, "/ttl", nil, d.item.ETag)
}

// clearBelowHorizon has the trigger delete what lies below the horizon: whoever fills the feed meanwhile begins anew.
func (m mender) clearBelowHorizon(ctx context.Context) error {
	return whileOutrun(func() error {
		horizon, etag, err := m.feedHorizon(ctx)
		if err != nil || etag == "" {
			return err
		}
		return m.putHorizon(ctx, horizon.position(), etag)
	})
}

// moveHorizon puts the horizon where it should be, in the order of RefillFeed: the posts that are to be above it are in the
// feed before it is lowered. Those that are above it only since then, whose projection had found them below, come after it. Where
// it was written meanwhile, also by what this makes the trigger trim, it is begun anew.
func (m mender) moveHorizon(ctx context.Context) error {
	err := whileOutrun(func() error {
		f, err := look{Store: m.Store}.feedState(ctx)
		if err != nil || f.should == f.horizon {
			return err
		}
		return m.moveHorizonOnce(ctx, f)
	})
	if err != nil {
		return err
	}
	f, err := look{Store: m.Store}.feedState(ctx)
	if err != nil {
		return err
	}
	return m.bringToFeed(ctx, f.absent())
}

func (m mender) moveHorizonOnce(ctx context.Context, f feedState) (err error) {
	to, etag := f.should.position(), f.etag
	if newerFirst(to, f.horizon.position()) > 0 {
		if etag, err = m.markRefill(ctx, f.horizon, etag, to); err != nil {
			return err
		}
	}
	if err := m.bringToFeed(ctx, f.posts); err != nil {
		return err
	}
	return m.putHorizon(ctx, to, etag)
}

func (m mender) bringToFeed(ctx context.Context, posts []*auditedItem) error {
	for _, post := range posts {
		if err := m.returnToFeed(ctx, post.ID); err != nil {
			return err
		}
	}
	return nil
}
