package projector

import (
	"context"

	"cosmosblog/store/changefeed"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

// feed maintains the short copies of the most recent posts in the container feed: the view of
// query Q6.
type feed struct {
	views  *views.Views
	counts *counts
	gate   *refillGate
}

func (feed) Name() string { return "feed" }

func (feed) Handles(change changefeed.Change) bool { return mayChangeViews(change) }

func (f feed) Project(ctx context.Context, change changefeed.Change) error {
	var written bool
	project := func() (err error) {
		written, err = f.views.FeedView().Project(ctx, change.Post)
		return err
	}
	var err error
	if change.Deleted {
		err = f.gate.remove(ctx, project, func() error { return f.views.RefillFeed(ctx) })
	} else {
		err = project()
	}
	if err == nil {
		f.counts.view(f, change, written)
	}
	return err
}

// Group returns one group for all posts that are not deleted. The gate admits deleted ones one by
// one.
func (feed) Group(change changefeed.Change) string {
	if change.Deleted {
		return ""
	}
	return schema.FeedPartition
}

func (f feed) ProjectGroup(ctx context.Context, changes []changefeed.Change) ([]string, error) {
	return projectGroup(ctx, f, f.counts, f.views.FeedView(), changes)
}

// Finishes reports true for every deleted post.
func (feed) Finishes(change changefeed.Change) bool { return change.Post != nil && change.Deleted }

// Finish refills the feed if deletions have removed too many copies.
func (f feed) Finish(ctx context.Context) error { return f.views.RefillFeed(ctx) }
