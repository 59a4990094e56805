package audit

import (
	"context"
	"errors"

	"cosmosblog/store/changefeed"
)

// scanRounds is the number of times that a feed is read to its end. The second round reads the
// changes made during the first. If an item changes again during the short second round,
// projectors write its views anyway.
const scanRounds = 2

// scanner reads change feeds page by page.
type scanner struct {
	*database
	pageSize int
	// begin returns the continuation from which a feed is read; empty means its beginning.
	begin func(changefeed.Feed) string
	// visit is called with each page, one at a time, and with the progress in its feed.
	visit func(changefeed.Page, changefeed.Feed, changefeed.Progress) error
}

// scan reads the change feed of a container, feed range by feed range, to its current end. It
// then does so once more, for the changes made since. There is no third round, so a scan ends
// even if the container is constantly written. It waits if the account throttles it. Errors:
// those of visit, or the first of the database.
func (s scanner) scan(ctx context.Context, container string) error {
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
		continuations[i] = s.begin(changefeed.Feed{Container: container, FeedRange: r})
	}
	for range scanRounds {
		for i, r := range ranges {
			feed := changefeed.Feed{Container: container, FeedRange: r}
			continuations[i], err = s.scanFeed(ctx, feed, continuations[i])
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// scanFeed reads a feed from a continuation to the end that it had when its first page was
// read, and returns the continuation there. If the feed range was split, it scans each part
// separately: LSNs of different parts cannot be compared.
func (s scanner) scanFeed(
	ctx context.Context, feed changefeed.Feed, continuation string,
) (string, error) {
	for goal, done := int64(-1), int64(-2); ; {
		if parts := changefeed.ContinuationRanges(continuation); len(parts) > 1 {
			return s.scanParts(ctx, feed, continuation, parts)
		}
		if goal >= 0 && done >= goal {
			return continuation, nil
		}
		var page changefeed.Page
		err := s.db.RetryTransient(ctx, func() (err error) {
			page, err = s.feeds.ReadPage(ctx, feed.Container, feed.FeedRange, continuation, s.pageSize)
			return err
		})
		if err != nil || len(page.Items) == 0 {
			return continuation, err
		}
		progress := changefeed.ProgressOf(page)
		if goal < 0 {
			goal = progress.Goal()
		}
		if err := s.visit(page, feed, progress); err != nil {
			return continuation, err
		}
		continuation, done = page.Continuation, progress.Done
	}
}

// scanParts scans the parts of a feed range that was split, and returns their joined continuation.
func (s scanner) scanParts(
	ctx context.Context, feed changefeed.Feed, whole string, parts []changefeed.FeedRange,
) (string, error) {
	ends := make([]string, len(parts))
	for i, part := range parts {
		begin, err := changefeed.NarrowContinuation(whole, part)
		if err != nil {
			return whole, err
		}
		partFeed := changefeed.Feed{Container: feed.Container, FeedRange: part}
		if ends[i], err = s.scanFeed(ctx, partFeed, begin); err != nil {
			return whole, err
		}
	}
	return changefeed.JoinContinuations(ends)
}

// measure reads the end of each feed, so that the first reported progress has the complete total.
func (a *auditRun) measure(ctx context.Context) error {
	a.scanned = map[changefeed.Feed]changefeed.Progress{}
	for _, k := range kinds {
		if !k.isListed() {
			continue
		}
		err := a.db.RetryTransient(ctx, func() error {
			ranges, err := a.feeds.FeedRanges(ctx, k.container)
			for _, r := range ranges {
				page, pageErr := a.feeds.ReadPage(ctx, k.container, r, "", 1)
				err = errors.Join(err, pageErr)
				feed := changefeed.Feed{Container: k.container, FeedRange: r}
				a.scanned[feed] = changefeed.Progress{Total: changefeed.ProgressOf(page).Total}
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (a *auditRun) reportProgress() {
	if a.options.Progress == nil {
		return
	}
	var progress Progress
	for _, feed := range a.scanned {
		progress.Done += feed.Done
		progress.Total += max(feed.Done, feed.Total)
	}
	a.options.Progress(progress)
}

// eachPage scans a container. It calls f with each page and those of its partitions that were not
// compared before, and reports the progress.
func (a *auditRun) eachPage(
	ctx context.Context,
	k kind,
	begin func(changefeed.Feed) string,
	f func(changefeed.Page, changefeed.Feed, []target) error,
) error {
	visit := func(page changefeed.Page, feed changefeed.Feed, progress changefeed.Progress) error {
		targets := a.newTargets(k, page)
		if err := f(page, feed, targets); err != nil {
			return err
		}
		*k.counter(&a.result) += int64(len(targets))
		a.scanned[feed] = changefeed.Progress{
			Done:  progress.Done,
			Total: max(progress.Total, a.scanned[feed].Total),
		}
		a.reportProgress()
		return nil
	}
	if err := (scanner{a.database, a.options.PageSize, begin, visit}).scan(ctx, k.container); err != nil {
		return err
	}
	for feed, end := range a.scanned {
		if feed.Container == k.container { // the last LSNs may be those of deleted items
			a.scanned[feed] = changefeed.Progress{Done: max(end.Done, end.Total), Total: end.Total}
		}
	}
	a.reportProgress()
	return nil
}

// newTargets returns the partitions of a page's items that were not compared before.
func (a *auditRun) newTargets(k kind, page changefeed.Page) []target {
	var targets []target
	for _, text := range page.Items {
		partition := k.partitionOf(newAuditedItem(text))
		if partition != "" && a.compared.add(k.container, partition) {
			targets = append(targets, target{k.container, partition})
		}
	}
	return targets
}
