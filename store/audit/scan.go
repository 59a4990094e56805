package audit

import (
	"context"
	"errors"

	"cosmosblog/store/changefeed"
	"cosmosblog/store/schema"
)

// auditedContainers are those whose change feeds say what there is, in the order in which they are looked at.
var auditedContainers = []string{schema.Posts, schema.Users, schema.Usernames}

// scanRounds is how often a feed is followed: what changes while it is followed comes again at its end. What changes once
// more in the short second round has its views written anew anyway.
const scanRounds = 2

// scan reads the change feed of a container to where it ends at that time, feed range by feed range, and once more for what
// came meanwhile, so that it ends also where something is written all the time. Each feed is read from the continuation that
// begin gives. f is handed each page of changes, one after another, with how far its feed is read. Error: that of f, or the
// first that the database gives; a throttled request is waited for.
func (s *database) scan(ctx context.Context, container string, pageSize int, begin func(changefeed.Feed) string, f func(changefeed.Page, changefeed.Feed, changefeed.Progress) error) error {
	var ranges []changefeed.FeedRange
	err := s.db.RetryTransient(ctx, func() (err error) {
		ranges, err = s.feeds.FeedRanges(ctx, container)
		return err
	})
	if err != nil {
		return err
	}
	continuations := make([]string, len(ranges))
	for i, r := range ranges {
		continuations[i] = begin(changefeed.Feed{Container: container, FeedRange: r})
	}
	for range scanRounds {
		for i, r := range ranges {
			of := changefeed.Feed{Container: container, FeedRange: r}
			continuations[i], err = s.scanFeed(ctx, of, continuations[i], pageSize, f)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// scanFeed reads one feed from a continuation to where it ended when its first page was read, and gives the continuation
// there. Where the feed range was split, it goes on with each part by itself: the numbers of one say nothing of another.
func (s *database) scanFeed(ctx context.Context, of changefeed.Feed, continuation string, pageSize int, f func(changefeed.Page, changefeed.Feed, changefeed.Progress) error) (string, error) {
	for goal, done := int64(-1), int64(-2); ; {
		if parts := changefeed.ContinuationRanges(continuation); len(parts) > 1 {
			return s.scanParts(ctx, of, continuation, parts, pageSize, f)
		}
		if goal >= 0 && done >= goal {
			return continuation, nil
		}
		var page changefeed.Page
		err := s.db.RetryTransient(ctx, func() (err error) {
			page, err = s.feeds.ReadPage(ctx, of.Container, of.FeedRange, continuation, pageSize)
			return err
		})
		if err != nil || len(page.Items) == 0 {
			return continuation, err
		}
		end := changefeed.ProgressOf(page)
		if goal < 0 {
			goal = end.Goal()
		}
		if err := f(page, of, end); err != nil {
			return continuation, err
		}
		continuation, done = page.Continuation, end.Done
	}
}

// scanParts scans the parts of a feed range that was split, and gives the continuation of all.
func (s *database) scanParts(ctx context.Context, of changefeed.Feed, whole string, parts []changefeed.FeedRange, pageSize int, f func(changefeed.Page, changefeed.Feed, changefeed.Progress) error) (string, error) {
	ends := make([]string, len(parts))
	for i, part := range parts {
		begin, err := changefeed.NarrowContinuation(whole, part)
		if err != nil {
			return whole, err
		}
		if ends[i], err = s.scanFeed(ctx, changefeed.Feed{Container: of.Container, FeedRange: part}, begin, pageSize, f); err != nil {
			return whole, err
		}
	}
	return changefeed.JoinContinuations(ends)
}

// measure looks how far each feed goes, so that what is told of progress first is of the whole.
func (a *auditRun) measure(ctx context.Context) error {
	a.scanned = map[changefeed.Feed]changefeed.Progress{}
	for _, container := range auditedContainers {
		err := a.db.RetryTransient(ctx, func() error {
			ranges, err := a.feeds.FeedRanges(ctx, container)
			for _, r := range ranges {
				page, pageErr := a.feeds.ReadPage(ctx, container, r, "", 1)
				err = errors.Join(err, pageErr)
				a.scanned[changefeed.Feed{Container: container, FeedRange: r}] = changefeed.Progress{Total: changefeed.ProgressOf(page).Total}
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (a *auditRun) tell() {
	if a.options.Progress == nil {
		return
	}
	var progress Progress
	for _, end := range a.scanned {
		progress.Done += end.Done
		progress.Total += max(end.Done, end.Total)
	}
	a.options.Progress(progress)
}

// scan looks at all partitions that the feeds of a container name.
func (a *auditRun) scan(ctx context.Context, container string) error {
	fromTheBeginning := func(changefeed.Feed) string { return "" }
	return a.follow(ctx, container, fromTheBeginning, func(_ changefeed.Page, _ changefeed.Feed, subjects []subject) error {
		return a.lookAt(ctx, subjects)
	})
}

// follow hands f the partitions that a container's feeds name and that were not looked at before, page by page, and tells of the
// progress.
func (a *auditRun) follow(ctx context.Context, container string, begin func(changefeed.Feed) string, f func(changefeed.Page, changefeed.Feed, []subject) error) error {
	err := a.database.scan(ctx, container, a.options.PageSize, begin, func(page changefeed.Page, of changefeed.Feed, end changefeed.Progress) error {
		subjects := a.newSubjects(container, page)
		if err := f(page, of, subjects); err != nil {
			return err
		}
		a.count(container, len(subjects))
		a.scanned[of] = changefeed.Progress{Done: end.Done, Total: max(end.Total, a.scanned[of].Total)}
		a.tell()
		return nil
	})
	if err != nil {
		return err
	}
	for of, end := range a.scanned {
		if of.Container == container { // the last numbers are of items that are gone
			a.scanned[of] = changefeed.Progress{Done: max(end.Done, end.Total), Total: end.Total}
		}
	}
	a.tell()
	return nil
}

// newSubjects gives the partitions of a page's items that were not looked at before.
func (a *auditRun) newSubjects(container string, page changefeed.Page) []subject {
	var subjects []subject
	for _, item := range page.Items {
		head := newAuditedItem(item)
		partition := map[string]string{schema.Posts: head.PostID, schema.Users: head.UserID, schema.Usernames: head.ID}[container]
		if partition != "" && a.seen.add(container, partition) {
			subjects = append(subjects, subject{container, partition})
		}
	}
	return subjects
}

func (a *auditRun) count(container string, n int) {
	switch container {
	case schema.Posts:
		a.result.Posts += int64(n)
	case schema.Users:
		a.result.Users += int64(n)
	case schema.Usernames:
		a.result.Usernames += int64(n)
	}
}
