package projector

import (
	"context"

	"cosmosblog/store"
)

// feed maintains the short copies of the most recent posts in the container feed: the view of
// query Q6.
type feed struct {
	store  *store.Store
	counts *counts
	gate   *refillGate
}

func (feed) Name() string { return "feed" }

func (feed) Wants(change store.Change) bool { return mayChangeViews(change) }

func (f feed) Project(ctx context.Context, change store.Change) error {
	var written bool
	project := func() (err error) {
		written, err = f.store.ProjectFeedPost(ctx, change.Post)
		return err
	}
	var err error
	if change.Deleted {
		err = f.gate.remove(ctx, project, func() error { return f.store.RefillFeed(ctx) })
	} else {
		err = project()
	}
	if err == nil {
		f.counts.view(f, change, written)
	}
	return err
}

// Finishes reports true for every deleted post.
func (feed) Finishes(change store.Change) bool { return change.Post != nil && change.Deleted }

// Finish refills the feed if deletions have removed too many copies.
func (f feed) Finish(ctx context.Context) error { return f.store.RefillFeed(ctx) }
