package store

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// Copying copies the sources of one database into another: users, their usernames, and posts with comments and likes.
// Views are not copied; the projector of the other database makes them anew.
//
// The change feeds of the first database say what there is, from the beginning; then they are followed once more, for what
// was written there meanwhile. So a copy ends also where something is written all the time. At the other end everything is guarded: what did not
// change at the first since it was copied stays as it is. So a copy can be broken off anywhere and run again at any time. Where it was
// broken off is kept in the other database (copy_checkpoint.go) until it is done.
type Copying struct {
	From, To *Store
	// Source names From from one run to the next: a folder, or an endpoint with its database.
	Source string
	// Parallel is how many partitions are copied at a time; 8 where 0.
	Parallel int
	// PageSize is how many changes are read at a time; 1000 where 0. The service gives fewer where they have more than 4 MB.
	PageSize int
	// Progress is told at the beginning, where there is anything to copy, and after every page, from one goroutine. It may
	// be nil.
	Progress func(CopyProgress)
}

// CopyProgress says how far a copy is.
type CopyProgress struct {
	// Done and Total are positions in the change feeds that are known by now, added up. They are no counts of items, but
	// grow evenly with them.
	Done, Total int64
	Copied      Copied
}

// Copied counts the items that a copy wrote. What was there already is not counted.
type Copied struct{ Users, Usernames, Posts, Comments, Likes int64 }

const (
	defaultCopyParallel = 8
	defaultCopyPageSize = 1000

	// copyRounds is how often the feeds are followed: once for what there is, and once more for what came meanwhile. A
	// database that is in use always has something new.
	copyRounds = 2
)

// copiedContainers are those whose items are sources. Usernames come first: where both databases have users who bear one
// name, that is noticed before anybody is copied.
var copiedContainers = []string{usernamesContainer, usersContainer, postsContainer}

// Run copies what the change feeds have, and once more what came meanwhile. A throttled request is waited for. Errors:
// *NameConflictError; otherwise the first that a database gives.
func (c *Copying) Run(ctx context.Context) (Copied, error) {
	run := &copyRun{Copying: *c, ends: map[string]feedEnd{}}
	run.Parallel = cmp.Or(run.Parallel, defaultCopyParallel)
	run.PageSize = cmp.Or(run.PageSize, defaultCopyPageSize)
	err := run.all(ctx)
	return run.copied(), err
}

// copyRun is one run of a Copying.
type copyRun struct {
	Copying
	checkpoint *copyCheckpoint
	ends       map[string]feedEnd // by container and feed range
	authors    sync.Map           // ids of users who are at the other end

	users, usernames, posts, comments, likes atomic.Int64
}

func (c *copyRun) copied() Copied {
	return Copied{c.users.Load(), c.usernames.Load(), c.posts.Load(), c.comments.Load(), c.likes.Load()}
}

func (c *copyRun) all(ctx context.Context) (err error) {
	if c.checkpoint, err = c.To.openCopyCheckpoint(ctx, c.Source); err != nil {
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
	if c.Progress == nil {
		return nil
	}
	_, err := c.eachFeed(ctx, func(container string, feedRange FeedRange) (bool, error) {
		feed := feedName(container, feedRange)
		page, _, err := c.read(ctx, container, feedRange, c.checkpoint.of(feed), 1)
		if errors.Is(err, ErrContainerReplaced) {
			return false, nil // follow begins anew
		}
		if end := endOf(page); err == nil && end.total > 0 {
			c.ends[feed] = feedEnd{max(0, end.done-1), end.total}
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
	return c.eachFeed(ctx, func(container string, feedRange FeedRange) (bool, error) {
		return c.follow(ctx, container, feedRange)
	})
}

// eachFeed calls f with every feed there is, and tells whether any call said yes.
func (c *copyRun) eachFeed(ctx context.Context, f func(container string, feedRange FeedRange) (bool, error)) (any bool, err error) {
	for _, container := range copiedContainers {
		var ranges []FeedRange
		err := c.From.persist(ctx, func() (err error) {
			ranges, err = c.From.FeedRanges(ctx, container)
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

func feedName(container string, r FeedRange) string { return container + "." + r.Min + "-" + r.Max }

// follow copies what one feed range has, up to where it ended when its first page was read.
func (c *copyRun) follow(ctx context.Context, container string, feedRange FeedRange) (any bool, err error) {
	feed := feedName(container, feedRange)
	for goal, done := int64(0), int64(-1); done < goal; {
		page, from, err := c.read(ctx, container, feedRange, c.checkpoint.of(feed), c.PageSize)
		if errors.Is(err, ErrContainerReplaced) && c.checkpoint.of(feed) != "" {
			c.checkpoint.forget(feed)
			continue
		}
		if err != nil || len(page.items) == 0 {
			return any, err
		}
		if err := c.page(ctx, from, container, page); err != nil {
			return any, err
		}
		end := endOf(page)
		if !any {
			goal = end.goal()
		}
		any, done = true, end.done
		if err := c.checkpoint.advance(ctx, feed, page.continuation); err != nil {
			return any, err
		}
		c.ends[feed] = end
		c.tell()
	}
	return any, nil
}

// read reads a page. The context that it gives is for reading more of From: it sees at least what the page shows.
func (c *copyRun) read(ctx context.Context, container string, feedRange FeedRange, continuation string, limit int) (page itemPage, from context.Context, err error) {
	from = WithSession(ctx)
	err = c.From.persist(ctx, func() (err error) {
		page, err = c.From.changedItems(from, container, feedRange, continuation, limit)
		return err
	})
	return page, from, err
}

// page copies the items of a page, those of different partitions beside one another.
func (c *copyRun) page(ctx, from context.Context, container string, page itemPage) error {
	items, err := storedItems(page.items)
	if err != nil {
		return err
	}
	steps := c.steps(from, container, items)
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(c.Parallel)
	for _, step := range steps {
		group.Go(func() error {
			to := WithSession(groupCtx)
			return c.To.persist(to, func() error { return whileOutrun(func() error { return step(to) }) })
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
		case container == usernamesContainer:
			steps = append(steps, func(to context.Context) error { return c.copyReservation(from, to, item) })
		case container == usersContainer && item.Type == typeUser:
			steps = append(steps, func(to context.Context) error { return c.copyUser(to, item) })
		case container == postsContainer && item.Type == typePost:
			steps = append(steps, func(to context.Context) error { return c.copyThread(from, to, item) })
		case container == postsContainer && item.Type == typeComment && item.UpdatedDate != "":
			steps = append(steps, func(to context.Context) error { return c.copyEdit(to, item) })
		}
	}
	return steps
}

// feedEnd is how far one feed is read, and how far it goes.
type feedEnd struct{ done, total int64 }

// goal is where a feed that goes so far has been read. Where the end is not known, it has been read when it gives nothing
// more.
func (e feedEnd) goal() int64 {
	if e.total < e.done || e.total <= 0 {
		return math.MaxInt64
	}
	return e.total
}

func (c *copyRun) tell() {
	if c.Progress == nil {
		return
	}
	progress := CopyProgress{Copied: c.copied()}
	for end := range maps.Values(c.ends) {
		progress.Done += end.done
		progress.Total += max(end.done, end.total)
	}
	c.Progress(progress)
}

// endOf reads the number of the page's last change, and from the session token that of the last one there is; nothing of
// a page without changes.
func endOf(page itemPage) feedEnd {
	if len(page.items) == 0 {
		return feedEnd{}
	}
	last, _ := numberOf(page.items[len(page.items)-1]) // without it the feed is followed until it is empty
	return feedEnd{last, page.endNumber()}
}
