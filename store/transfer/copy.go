// Package transfer copies one database into another: users, usernames and posts with their
// comments and likes. The target's projector builds the views.
package transfer

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// Options configure a copy. Source is required.
type Options struct {
	// Source identifies the source from one run to the next: a folder, or an endpoint with its
	// database.
	Source string
	// Parallel is the maximum number of partitions that are copied at a time; 8 if 0.
	Parallel int
	// PageSize is the number of changes in a page; 1000 if 0. The service returns fewer if they
	// exceed 4 MB.
	PageSize int
	// Progress is called once at the beginning, also if the copy begins again, unless there is nothing
	// to copy, and after every page, from one goroutine. May be nil.
	Progress func(Progress)

	Now   func() time.Time                                 // time.Now if nil
	Sleep func(ctx context.Context, d time.Duration) error // a timer if nil
}

// Progress is the progress of a copy.
type Progress struct {
	// Done and Total are sums of positions in the change feeds read so far. They do not count
	// items, but grow in proportion to them.
	Done, Total int64
	Copied      Copied
}

// Copied counts the items that a copy wrote. Items that were already equal are not counted.
type Copied struct{ Users, Usernames, Posts, Comments, Likes int64 }

const (
	defaultParallel = 8
	defaultPageSize = 1000
)

// copiedContainers are the containers that are copied, in this order. Usernames come first: if
// users of both databases have the same username, the copy fails before it copies any user.
var copiedContainers = []string{schema.Usernames, schema.Users, schema.Posts}

// Copy copies users, usernames, and posts with comments and likes from one database into another.
// It copies no views, because the target's projector builds them. It returns the number of items
// that it wrote, even if it fails. It waits if an account throttles it. Both databases may be in
// use. Errors: *NameConflictError, *HistoryError; otherwise the first error of a database.
//
// The change feeds of the source list what exists, from the beginning. If they do not show all
// items, because the source was restored (changefeed.History), a query lists them first. The feeds
// are then read once more, for the changes made since. They are not read a third time, so a copy
// ends even if the source is in constant use. All writes to the target are conditional: an item of
// the target stays unchanged unless the source's item changed since it was copied. A copy may
// therefore be interrupted anywhere and run again at any time. The target keeps a checkpoint
// (checkpoint.go).
//
// A checkpoint is valid in one history of the source (changefeed.History). If that has ended, an
// interrupted copy begins again, and a copy after one that was done fails with *HistoryError. The
// history has also ended if a position stays beyond the end of its feed for
// changefeed.BeyondEndLimit. A copy that begins again also compares items whose revisions are those
// that were copied: the source may have lost those states, and reached the same revisions again. It
// leaves those that have changed in the target since, and does not delete what the source has lost.
func Copy(ctx context.Context, from, to *cosmos.DB, options Options) (Copied, error) {
	options.Parallel = cmp.Or(options.Parallel, defaultParallel)
	options.PageSize = cmp.Or(options.PageSize, defaultPageSize)
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Sleep == nil {
		options.Sleep = cosmos.Sleep
	}
	run := &copyRun{from: open(from), to: open(to), options: options}
	err := run.run(ctx)
	return run.copied(), err
}

type copyRun struct {
	from, to   *database
	options    Options
	checkpoint *checkpoint
	ends       map[changefeed.Feed]changefeed.Progress
	authors    sync.Map // ids of users who exist in the target

	users, usernames, posts, comments, likes atomic.Int64
}

func (c *copyRun) copied() Copied {
	return Copied{c.users.Load(), c.usernames.Load(), c.posts.Load(), c.comments.Load(), c.likes.Load()}
}

// run copies, and begins again if the source went back to an earlier state.
func (c *copyRun) run(ctx context.Context) error {
	for {
		err := c.copyHistory(ctx)
		if !errors.Is(err, changefeed.ErrWentBack) {
			return err
		}
		if err := c.checkpoint.beginAgain(ctx); err != nil {
			return err
		}
	}
}

// copyHistory copies the present history of the source. Error: changefeed.ErrWentBack if that ends.
func (c *copyRun) copyHistory(ctx context.Context) error {
	history, err := c.history(ctx)
	if err != nil {
		return err
	}
	if c.checkpoint, err = c.to.openCheckpoint(ctx, c.options.Source, history.Name); err != nil {
		return err
	}
	if err := c.copyFeeds(ctx, history); err != nil {
		return err
	}
	now, err := c.history(ctx)
	if err == nil && now.Name != history.Name {
		err = changefeed.ErrWentBack
	}
	if err != nil {
		return err
	}
	return c.checkpoint.finish(ctx)
}

// copyFeeds reads the feeds of the source to their ends. If a container was deleted and created
// again since the checkpoint, it begins again.
func (c *copyRun) copyFeeds(ctx context.Context, history changefeed.History) error {
	for {
		err := c.tryFeeds(ctx, history)
		if !errors.Is(err, changefeed.ErrContainerReplaced) || !c.checkpoint.reset() {
			return err
		}
	}
}

func (c *copyRun) tryFeeds(ctx context.Context, history changefeed.History) error {
	feeds, err := c.from.feeds.FeedsOf(ctx, copiedContainers...)
	if err != nil {
		return err
	}
	var from context.Context // of the last page
	scanner := changefeed.Scanner{
		Feeds:    c.from.feeds,
		PageSize: c.options.PageSize,
		Begin:    func(feed changefeed.Feed) string { return c.checkpoint.continuation(feed) },
		Read: func(ctx context.Context, feed changefeed.Feed, continuation string, limit int) (page changefeed.Page, err error) {
			page, from, err = c.read(ctx, feed, continuation, limit)
			return page, err
		},
		Visit: func(page changefeed.Page, feed changefeed.Feed, end changefeed.Progress) error {
			if len(page.Items) == 0 {
				return nil
			}
			if err := c.copyPage(ctx, from, feed.Container, page); err != nil {
				return err
			}
			c.ends[feed] = end
			err := c.checkpoint.advance(ctx, feed, page.Continuation)
			c.reportProgress()
			return err
		},
	}
	c.ends = map[changefeed.Feed]changefeed.Progress{}
	if c.options.Progress != nil {
		if c.ends, err = scanner.Measure(ctx, feeds); err != nil {
			return err
		}
		if len(c.ends) > 0 {
			c.reportProgress()
		}
	}
	if !history.HasWholeFeeds() {
		for _, container := range copiedContainers {
			if err := c.copyItems(ctx, container); err != nil {
				return err
			}
		}
	}
	return scanner.Scan(ctx, feeds)
}

// copyItems copies all items of a container, which a query lists. What is written later, the feeds
// show.
func (c *copyRun) copyItems(ctx context.Context, container string) error {
	query := changefeed.Feed{Container: container} // no feed has an empty range
	for !changefeed.AllItemsRead(c.checkpoint.continuation(query)) {
		var page changefeed.Page
		from := cosmos.WithSession(ctx)
		err := c.from.db.RetryTransient(ctx, func() (err error) {
			page, err = c.from.feeds.ReadItems(from, container, c.checkpoint.continuation(query), c.options.PageSize)
			return err
		})
		if err == nil {
			err = c.copyPage(ctx, from, container, page)
		}
		if err == nil {
			err = c.checkpoint.advance(ctx, query, page.Continuation)
		}
		if err != nil {
			return err
		}
		c.reportProgress()
	}
	return nil
}

// read reads a page, with the waits and the error of changefeed.ReadWithinEnd. It also returns the
// context for further reads of the source: their session includes everything that the page shows.
func (c *copyRun) read(
	ctx context.Context, feed changefeed.Feed, continuation string, limit int,
) (page changefeed.Page, from context.Context, err error) {
	page, err = changefeed.ReadWithinEnd(func() (page changefeed.Page, err error) {
		from = cosmos.WithSession(ctx)
		err = c.from.db.RetryTransient(ctx, func() (err error) {
			page, err = c.from.feeds.ReadPage(from, feed.Container, feed.FeedRange, continuation, limit)
			return err
		})
		return page, err
	}, c.options.Now, func(d time.Duration) error { return c.options.Sleep(ctx, d) })
	return page, from, err
}

// copyPage copies the items of a page, in up to Options.Parallel goroutines.
func (c *copyRun) copyPage(ctx, from context.Context, container string, page changefeed.Page) error {
	items, err := storedItems(page.Items)
	if err != nil {
		return err
	}
	steps := c.steps(from, container, items)
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(c.options.Parallel)
	for _, step := range steps {
		group.Go(func() error {
			to := cosmos.WithSession(groupCtx)
			return c.to.db.RetryTransient(to, func() error { return cosmos.RetryOnConflict(func() error { return step(to) }) })
		})
	}
	return group.Wait()
}

// copyStep copies one item. copyPage executes it again if it loses a race, or if its outcome is
// unknown.
type copyStep func(to context.Context) error

func (c *copyRun) steps(from context.Context, container string, items []storedItem) []copyStep {
	var steps []copyStep
	for _, item := range items {
		switch {
		case container == schema.Usernames:
			steps = append(steps, func(to context.Context) error { return c.copyReservation(from, to, item) })
		case container == schema.Users && item.Type == schema.TypeUser:
			steps = append(steps, func(to context.Context) error { return c.copyUser(from, to, item) })
		case container == schema.Posts && item.Type == schema.TypePost:
			steps = append(steps, func(to context.Context) error { return c.copyThread(from, to, item) })
		case container == schema.Posts && item.Type == schema.TypeComment && item.UpdatedDate != "":
			steps = append(steps, func(to context.Context) error { return c.copyEdit(from, to, item) })
		}
	}
	return steps
}

func (c *copyRun) reportProgress() {
	if c.options.Progress == nil {
		return
	}
	progress := Progress{Copied: c.copied()}
	for end := range maps.Values(c.ends) {
		progress.Done += end.Done
		progress.Total += max(end.Done, end.Total)
	}
	c.options.Progress(progress)
}
