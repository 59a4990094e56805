package audit

import (
	"context"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

// restoreHorizon replaces a horizon that cannot be read by one with those of its properties that
// can. Whoever reads what arrived then begins again, if the trimmed arrivals are not known. A wrong
// position is the next drift. Error: CONFLICT if the horizon changed since it was read.
func (r repairer) restoreHorizon(ctx context.Context, d Drift) error {
	var read views.Horizon
	_ = d.item.decode(&read) // as far as it can be decoded
	now := blog.NewDateTime(r.db.Now())
	horizon := views.HorizonAt(views.FeedPosition{}) // below all posts
	if read.CreationDate != "" && read.PostID != "" {
		horizon = views.HorizonAt(read.Position())
	}
	horizon.LastArrival, horizon.TrimmedArrival = now.After(read.LastArrival), now
	_, err := cosmos.Replace(ctx, r.db.Container(schema.Feed), d.Partition, d.ID, horizon, d.item.ETag)
	return err
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
		return r.views.MoveHorizon(ctx, f.horizon, to, f.item.ETag) // in the second try, if copies were missing
	}
	marked, err := r.views.MarkRefill(ctx, f.horizon, f.item.ETag, to)
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
