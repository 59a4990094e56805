package store

import (
	"context"
	"errors"
)

// auditedContainers are those whose change feeds say what there is, in the order in which they are looked at.
var auditedContainers = []string{postsContainer, usersContainer, usernamesContainer}

// scanRounds is how often a feed is followed: what changes while it is followed comes again at its end. What changes once
// more in the short second round has its views written anew anyway.
const scanRounds = 2

// scan reads the change feed of a container to where it ends at that time, feed range by feed range, and once more for what
// came meanwhile, so that it ends also where something is written all the time. Each feed is read from the continuation that
// begin gives. f is handed each page of changes, one after another, with how far its feed is read. Error: that of f, or the
// first that the database gives; a throttled request is waited for.
func (s *Store) scan(ctx context.Context, container string, pageSize int, begin func(feed) string, f func(itemPage, feed, feedEnd) error) error {
	var ranges []FeedRange
	err := s.persist(ctx, func() (err error) {
		ranges, err = s.FeedRanges(ctx, container)
		return err
	})
	if err != nil {
		return err
	}
	continuations := make([]string, len(ranges))
	for i, r := range ranges {
		continuations[i] = begin(feed{container, r})
	}
	for range scanRounds {
		for i, r := range ranges {
			of := feed{container, r}
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
func (s *Store) scanFeed(ctx context.Context, of feed, continuation string, pageSize int, f func(itemPage, feed, feedEnd) error) (string, error) {
	for goal, done := int64(-1), int64(-2); ; {
		if parts := partsOf(continuation); len(parts) > 1 {
			return s.scanParts(ctx, of, continuation, parts, pageSize, f)
		}
		if goal >= 0 && done >= goal {
			return continuation, nil
		}
		var page itemPage
		err := s.persist(ctx, func() (err error) {
			page, err = s.changedItems(ctx, of.container, of.FeedRange, continuation, pageSize)
			return err
		})
		if err != nil || len(page.items) == 0 {
			return continuation, err
		}
		end := endOf(page)
		if goal < 0 {
			goal = end.goal()
		}
		if err := f(page, of, end); err != nil {
			return continuation, err
		}
		continuation, done = page.continuation, end.done
	}
}

// scanParts scans the parts of a feed range that was split, and gives the continuation of all.
func (s *Store) scanParts(ctx context.Context, of feed, whole string, parts []FeedRange, pageSize int, f func(itemPage, feed, feedEnd) error) (string, error) {
	ends := make([]string, len(parts))
	for i, part := range parts {
		begin, err := ContinuationOf(whole, part)
		if err != nil {
			return whole, err
		}
		if ends[i], err = s.scanFeed(ctx, feed{of.container, part}, begin, pageSize, f); err != nil {
			return whole, err
		}
	}
	return joinContinuations(ends)
}

// measure looks how far each feed goes, so that what is told of progress first is of the whole.
func (a *auditRun) measure(ctx context.Context) error {
	a.scanned = map[feed]feedEnd{}
	for _, container := range auditedContainers {
		err := a.Store.persist(ctx, func() error {
			ranges, err := a.Store.FeedRanges(ctx, container)
			for _, r := range ranges {
				page, pageErr := a.Store.changedItems(ctx, container, r, "", 1)
				err = errors.Join(err, pageErr)
				a.scanned[feed{container, r}] = feedEnd{0, endOf(page).total}
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
	if a.Progress == nil {
		return
	}
	var progress AuditProgress
	for _, end := range a.scanned {
		progress.Done += end.done
		progress.Total += max(end.done, end.total)
	}
	a.Progress(progress)
}

// scan looks at all partitions that the feeds of a container name.
func (a *auditRun) scan(ctx context.Context, container string) error {
	fromTheBeginning := func(feed) string { return "" }
	return a.follow(ctx, container, fromTheBeginning, func(_ itemPage, _ feed, subjects []subject) error {
		return a.lookAt(ctx, subjects)
	})
}

// follow hands f the partitions that a container's feeds name and that were not looked at before, page by page, and tells of the
// progress.
func (a *auditRun) follow(ctx context.Context, container string, begin func(feed) string, f func(itemPage, feed, []subject) error) error {
	err := a.Store.scan(ctx, container, a.PageSize, begin, func(page itemPage, of feed, end feedEnd) error {
		subjects := a.newSubjects(container, page)
		if err := f(page, of, subjects); err != nil {
			return err
		}
		a.count(container, len(subjects))
		a.scanned[of] = feedEnd{end.done, max(end.total, a.scanned[of].total)}
		a.tell()
		return nil
	})
	if err != nil {
		return err
	}
	for of, end := range a.scanned {
		if of.container == container { // the last numbers are of items that are gone
			a.scanned[of] = feedEnd{max(end.done, end.total), end.total}
		}
	}
	a.tell()
	return nil
}

// newSubjects gives the partitions of a page's items that were not looked at before.
func (a *auditRun) newSubjects(container string, page itemPage) []subject {
	var subjects []subject
	for _, item := range page.items {
		head := newAuditedItem(item)
		partition := map[string]string{postsContainer: head.PostID, usersContainer: head.UserID, usernamesContainer: head.ID}[container]
		if partition != "" && a.seen.add(container, partition) {
			subjects = append(subjects, subject{container, partition})
		}
	}
	return subjects
}

func (a *auditRun) count(container string, n int) {
	switch container {
	case postsContainer:
		a.audited.Posts += int64(n)
	case usersContainer:
		a.audited.Users += int64(n)
	case usernamesContainer:
		a.audited.Usernames += int64(n)
	}
}
