package audit

import (
	"context"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/views"
)

// repairFeed corrects drifts of the feed. It adds missing copies before it removes superfluous
// ones, so the feed never has a gap.
func (r repairer) repairFeed(ctx context.Context, _ string, drifts []Drift) error {
	for _, d := range drifts {
		var err error
		switch d.Kind {
		case DriftHorizon:
			if d.Field == "lastArrival" {
				err = d.setProperty(ctx, r.feed, d.Should)
			} else {
				err = r.correctHorizon(ctx)
			}
		case DriftMissing, DriftCopy, DriftUnreadable:
			err = r.repairFeedCopy(ctx, d)
		}
		if err != nil && !cosmos.IsItemError(err) {
			return err
		}
	}
	for _, d := range drifts {
		var err error
		switch d.Kind {
		case DriftSurplus:
			err = r.trimBelowHorizon(ctx)
		case DriftOrphan, DriftDuplicate:
			err = d.removeItem(ctx, r.feed)
		case DriftExpiry:
			err = d.correctTTL(ctx, r.feed)
		}
		if err != nil && !cosmos.IsItemError(err) {
			return err
		}
	}
	return nil
}

// repairFeedCopy writes the copy of a post that is or should be in the feed.
func (r repairer) repairFeedCopy(ctx context.Context, d Drift) error {
	switch {
	case d.ID == views.HorizonID:
		return r.restoreHorizon(ctx, d)
	case d.Field == "arrivalDate":
		return d.setProperty(ctx, r.feed, nil)
	}
	err := r.views.RestoreToFeed(ctx, d.ID)
	if !r.force || err != nil && !cosmos.IsItemError(err) { // an unreadable copy fails the projection
		return err
	}
	return r.overwrite(ctx, r.views.FeedView(), d)
}

// restoreHorizon replaces a horizon that cannot be read by one with those of its properties that
// can. Whoever reads what arrived then begins again, if the trimmed arrivals are not known. A wrong
// position is the next drift. Error: CONFLICT if the horizon changed since it was read.
func (r repairer) restoreHorizon(ctx context.Context, d Drift) error {
	read, now := d.item.horizon(), blog.NewDateTime(r.db.Now())
	horizon := views.HorizonAt(views.FeedPosition{}) // below all posts
	if isDate(d.item.properties()["creationDate"]) && read.CreationDate != "" && d.item.has("postId") {
		horizon = views.HorizonAt(read.Position())
	}
	horizon.LastArrival, horizon.TrimmedArrival = now, now
	if isDate(d.item.properties()["lastArrival"]) {
		horizon.LastArrival = now.After(read.LastArrival)
	}
	_, err := cosmos.Replace(ctx, r.feed, d.Partition, d.ID, horizon, d.item.ETag)
	return err
}

// trimBelowHorizon writes the horizon unchanged, which makes the trigger delete the copies
// below it. A concurrent refill of the feed then starts again.
func (r repairer) trimBelowHorizon(ctx context.Context) error {
	return cosmos.RetryOnConflict(func() error {
		horizon, etag, err := r.views.ReadHorizon(ctx)
		if err != nil || etag == "" {
			return err
		}
		return r.views.MoveHorizon(ctx, horizon, horizon.Position(), etag)
	})
}

// correctHorizon moves the horizon to its expected position. Like RefillFeed, it lowers the horizon
// only once the feed has all posts that will be above it. If the horizon changes meanwhile, for
// example by a trim that these writes trigger, it starts again. At the end it adds the posts that
// are now above the horizon, because a projector may have skipped them while they were below it.
func (r repairer) correctHorizon(ctx context.Context) error {
	err := cosmos.RetryOnConflict(func() error {
		f, err := newComparer(r.database).readFeed(ctx)
		if err != nil || f.expected == f.horizon {
			return err
		}
		return r.moveHorizon(ctx, f)
	})
	if err != nil {
		return err
	}
	f, err := newComparer(r.database).readFeed(ctx)
	if err != nil {
		return err
	}
	return r.addToFeed(ctx, f.missingPosts())
}

// moveHorizon executes correctHorizon's move once. Error: CONFLICT if the horizon changed since
// it was read.
func (r repairer) moveHorizon(ctx context.Context, f feedState) error {
	ctx = cosmos.InSession(ctx)
	to := f.expected.Position()
	if views.CompareNewestFirst(to, f.horizon.Position()) <= 0 {
		if err := r.addToFeed(ctx, f.posts); err != nil {
			return err
		}
		return r.views.MoveHorizon(ctx, f.horizon, to, f.etag) // in the second try, if copies were missing
	}
	marked, err := r.views.MarkRefill(ctx, f.horizon, f.etag, to)
	if err != nil {
		return err
	}
	if err := r.addToFeed(ctx, f.posts); err != nil {
		return err
	}
	return r.views.EndRefill(ctx, marked, to)
}

func (r repairer) addToFeed(ctx context.Context, posts []*auditedItem) error {
	for _, post := range posts {
		if err := r.views.RestoreToFeed(ctx, post.ID); err != nil {
			return err
		}
	}
	return nil
}
