package projector

import (
	"context"

	"cosmosblog/store"
)

// feed keeps the short copies of the most recent posts in feed: the view of Q6.
type feed struct {
	store   *store.Store
	counts  *counts
	reserve *reserve
}

func (feed) Name() string { return "feed" }

func (feed) Wants(change store.Change) bool { return isCurrentPost(change) }

func (f feed) Project(ctx context.Context, change store.Change) error {
	var written bool
	project := func() (err error) {
		written, err = f.store.ProjectFeedPost(ctx, change.Post)
		return err
	}
	var err error
	if change.Deleted {
		err = f.reserve.take(ctx, project, func() error { return f.store.RefillFeed(ctx) })
	} else {
		err = project()
	}
	if err == nil {
		f.counts.view(f, change, written)
	}
	return err
}

// Finishes holds for each deletion, also one that was projected before: a crash may have come between that and Finish.
func (feed) Finishes(change store.Change) bool { return change.Post != nil && change.Deleted }

// Finish fills the feed again where deletions took more than its reserve.
func (f feed) Finish(ctx context.Context) error { return f.store.RefillFeed(ctx) }
