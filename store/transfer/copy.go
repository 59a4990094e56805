// Package transfer copies one database into another: users, usernames and posts with their comments and
// likes. The target's projector builds the views.
package transfer

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// Options say how a copy runs. Source is required.
type Options struct {
	// Source names the source from one run to the next: a folder, or an endpoint with its database.
	Source string
	// Parallel is how many partitions are copied at a time; 8 if 0.
	Parallel int
	// PageSize is how many changes are read at a time; 1000 if 0. The service returns fewer if they have
	// more than 4 MB.
	PageSize int
	// Progress is called at the beginning, if there is anything to copy, and after every page, from one
	// goroutine. May be nil.
	Progress func(Progress)
}

// Progress says how far a copy is.
type Progress struct {
	// Done and Total are sums of positions in the change feeds known by now. They count no items, but
	// grow evenly with them.
	Done, Total int64
	Copied      Copied
}

// Copied counts the items that a copy wrote. Items that were equal already are not counted.
type Copied struct{ Users, Usernames, Posts, Comments, Likes int64 }

const (
	defaultParallel = 8
	defaultPageSize = 1000

	// copyRounds is how often the feeds are followed: once for what there is, and once more for what came meanwhile. A
	// database that is in use always has something new.
	copyRounds = 2
)

// copiedContainers are those whose items are sources. Usernames come first: where both databases have users who bear one
// name, that is noticed before anybody is copied.
var copiedContainers = []string{schema.Usernames, schema.Users, schema.Posts}

// Copy copies the sources of one database into another: users, their usernames, and posts with
// comments and likes. It copies no views; the projector of the target builds them. It waits if an
// account throttles it. Errors: *NameConflictError; otherwise the first of a database.
//
// The change feeds of the source list what exists, from the beginning. They are then followed once
// more, for what was written meanwhile, so a copy also ends if the source is in constant use. All
// writes to the target are guarded: an item stays as it is there unless it changed in the source since
// it was copied. A copy may therefore be interrupted anywhere and run again at any time. The target
// keeps a checkpoint (checkpoint.go) until the copy is done.
func Copy(ctx context.Context, from, to *cosmos.DB, options Options) (Copied, error) {
	options.Parallel = cmp.Or(options.Parallel, defaultParallel)
	options.PageSize = cmp.Or(options.PageSize, defaultPageSize)
	run := &copyRun{from: open(from), to: open(to), options: options, ends: map[string]changefeed.Progress{}}
	err := run.all(ctx)
	return run.copied(), err
}

// copyRun is one run of a copy.
type copyRun struct {
	from, to   *database
	options    Options
	checkpoint *checkpoint
	ends       map[string]changefeed.Progress // by container and feed range
	authors    sync.Map                       // ids of users who are in the target

	users, usernames, posts, comments, likes atomic.Int64
}

func (c *copyRun) copied() Copied {
	return Copied{c.users.Load(), c.usernames.Load(), c.posts.Load(), c.comments.Load(), c.likes.Load()}
}

func (c *copyRun) all(ctx context.Context) (err error) {
	if c.checkpoint, err = c.to.openCheckpoint(ctx, c.options.Source); err != nil {
		return err
	}
	if err := c.measure(ctx); err != nil {
		return err
	}
	for round, busy := 0, true; busy && round < copyRounds; round++ {
		if busy, err = c.round(ctx); err != nil {
			return err
		}
	}
	return c.checkpoint.remove(ctx)
}

// measure looks how far each feed goes, so that the first thing told of progress is of the whole.
func (c *copyRun) measure(ctx context.Context) error {
	if c.options.Progress == nil {
		return nil
	}
	_, err := c.eachFeed(ctx, func(container string, feedRange changefeed.FeedRange) (bool, error) {
		feed := changefeed.FeedName(container, feedRange)
		page, _, err := c.read(ctx, container, feedRange, c.checkpoint.of(feed), 1)
		if errors.Is(err, changefeed.ErrContainerReplaced) {
			return false, nil // follow begins anew
		}
		if end := changefeed.ProgressOf(page); err == nil && end.Total > 0 {
			c.ends[feed] = changefeed.Progress{Done: max(0, end.Done-1), Total: end.Total}
		}
		return false, err
	})
	if err == nil && len(c.ends) > 0 {
		c.tell()
	}
	return err
}

// round follows each feed to its end, and tells whether there was anything.
func (c *copyRun) round(ctx context.Context) (any bool, err error) {
	return c.eachFeed(ctx, func(container string, feedRange changefeed.FeedRange) (bool, error) {
		return c.follow(ctx, container, feedRange)
	})
}

// eachFeed calls f with every feed there is, and tells whether any call said yes.
func (c *copyRun) eachFeed(ctx context.Context, f func(container string, feedRange changefeed.FeedRange) (bool, error)) (any bool, err error) {
	for _, container := range copiedContainers {
		var ranges []changefeed.FeedRange
		err := c.from.db.RetryTransient(ctx, func() (err error) {
			ranges, err = c.from.feeds.FeedRanges(ctx, container)
			return err
		})
		if err != nil {
			return any, err
		}
		for _, feedRange := range ranges {
			yes, err := f(container, feedRange)
			if err != nil {
				return any, err
			}
			any = any || yes
		}
	}
	return any, nil
}

// follow copies what one feed range has, up to where it ended when its first page was read.
func (c *copyRun) follow(ctx context.Context, container string, feedRange changefeed.FeedRange) (any bool, err error) {
	feed := changefeed.FeedName(container, feedRange)
	for goal, done := int64(0), int64(-1); done < goal; {
		page, from, err := c.read(ctx, container, feedRange, c.checkpoint.of(feed), c.options.PageSize)
		if errors.Is(err, changefeed.ErrContainerReplaced) && c.checkpoint.of(feed) != "" {
			c.checkpoint.forget(feed)
			continue
		}
		if err != nil || len(page.Items) == 0 {
			return any, err
		}
		if err := c.page(ctx, from, container, page); err != nil {
			return any, err
		}
		end := changefeed.ProgressOf(page)
		if !any {
			goal = end.Goal()
		}
		any, done = true, end.Done
		if err := c.checkpoint.advance(ctx, feed, page.Continuation); err != nil {
			return any, err
		}
		c.ends[feed] = end
		c.tell()
	}
	return any, nil
}

// read reads a page. The context that it gives is for reading more of From: it sees at least what the page shows.
func (c *copyRun) read(ctx context.Context, container string, feedRange changefeed.FeedRange, continuation string, limit int) (page changefeed.Page, from context.Context, err error) {
	from = cosmos.WithSession(ctx)
	err = c.from.db.RetryTransient(ctx, func() (err error) {
		page, err = c.from.feeds.ReadPage(from, container, feedRange, continuation, limit)
		return err
	})
	return page, from, err
}

// page copies the items of a page, those of different partitions beside one another.
func (c *copyRun) page(ctx, from context.Context, container string, page changefeed.Page) error {
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

// copyStep copies one thing. It is taken again where somebody was faster, or nobody knows whether it was done.
type copyStep func(to context.Context) error

func (c *copyRun) steps(from context.Context, container string, items []storedItem) []copyStep {
	var steps []copyStep
	for _, item := range items {
		switch {
		case container == schema.Usernames:
			steps = append(steps, func(to context.Context) error { return c.copyReservation(from, to, item) })
		case container == schema.Users && item.Type == schema.TypeUser:
			steps = append(steps, func(to context.Context) error { return c.copyUser(to, item) })
		case container == schema.Posts && item.Type == schema.TypePost:
			steps = append(steps, func(to context.Context) error { return c.copyThread(from, to, item) })
		case container == schema.Posts && item.Type == schema.TypeComment && item.UpdatedDate != "":
			steps = append(steps, func(to context.Context) error { return c.copyEdit(to, item) })
		}
	}
	return steps
}

func (c *copyRun) tell() {
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
