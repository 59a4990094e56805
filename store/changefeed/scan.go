package changefeed

import "context"

// scanRounds is the number of times that a feed is read to its end. The second round reads the
// changes made during the first. If an item changes again during the short second round,
// projectors write its views anyway.
const scanRounds = 2

// Scanner reads all items of containers page by page.
type Scanner struct {
	*Feeds
	PageSize int // items in a page
	// ByQuery reads the items by query, and not from the change feeds. Set it if the feeds may not
	// show all items: unless History.HasWholeFeeds.
	ByQuery bool
	// Begin returns the continuation from which a feed is read; empty means its beginning. A query has
	// a single one, for the feed AllOf the container.
	Begin func(Feed) string
	// Visit is called with each page, one at a time, and with the progress in its feed. By query, the
	// progress is zero, because nobody knows the number of items, and pages may be empty. A scan that
	// begins at the page's continuation continues after the page.
	Visit func(Page, Feed, Progress) error
}

// AllOf returns the feed that stands for a whole container.
func AllOf(container string) Feed { return Feed{container, FeedRange{Max: "FF"}} }

// Scan reads the change feed of a container, feed range by feed range, to its current end. It
// then does so once more, for the changes made since. There is no third round, so a scan ends
// even if the container is constantly written. By query, it reads every item once: what is written
// meanwhile is left to projectors. It waits if the account throttles it. Errors: those of Visit, or
// the first of the database.
func (s Scanner) Scan(ctx context.Context, container string) error {
	if s.ByQuery {
		return s.scanItems(ctx, container)
	}
	var ranges []FeedRange
	err := s.db.RetryTransient(ctx, func() (err error) {
		ranges, err = s.FeedRanges(ctx, container)
		return err
	})
	if err != nil {
		return err
	}
	continuations := make([]string, len(ranges))
	for i, r := range ranges {
		continuations[i] = s.Begin(Feed{Container: container, FeedRange: r})
	}
	for range scanRounds {
		for i, r := range ranges {
			feed := Feed{Container: container, FeedRange: r}
			continuations[i], err = s.scanFeed(ctx, feed, continuations[i])
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// scanItems reads the items of a container by query.
func (s Scanner) scanItems(ctx context.Context, container string) error {
	feed := AllOf(container)
	for continuation := s.Begin(feed); ; {
		var page Page
		err := s.db.RetryTransient(ctx, func() (err error) {
			page, err = s.ReadItems(ctx, container, continuation, s.PageSize)
			return err
		})
		if err != nil {
			return err
		}
		if err := s.Visit(page, feed, Progress{}); err != nil || AllItemsRead(page.Continuation) {
			return err
		}
		continuation = page.Continuation
	}
}

// scanFeed reads a feed from a continuation to the end that it had when its first page was
// read, and returns the continuation there. If the feed range was split, it scans each part
// separately: LSNs of different parts cannot be compared.
func (s Scanner) scanFeed(
	ctx context.Context, feed Feed, continuation string,
) (string, error) {
	for goal, done := int64(-1), int64(-2); ; {
		if parts := ContinuationRanges(continuation); len(parts) > 1 {
			return s.scanParts(ctx, feed, continuation, parts)
		}
		if goal >= 0 && done >= goal {
			return continuation, nil
		}
		var page Page
		err := s.db.RetryTransient(ctx, func() (err error) {
			page, err = s.ReadPage(ctx, feed.Container, feed.FeedRange, continuation, s.PageSize)
			return err
		})
		if err != nil || len(page.Items) == 0 {
			return continuation, err
		}
		progress := ProgressOf(page)
		if goal < 0 {
			goal = progress.Goal()
		}
		if err := s.Visit(page, feed, progress); err != nil {
			return continuation, err
		}
		continuation, done = page.Continuation, progress.Done
	}
}

// scanParts scans the parts of a feed range that was split, and returns their joined continuation.
func (s Scanner) scanParts(
	ctx context.Context, feed Feed, whole string, parts []FeedRange,
) (string, error) {
	ends := make([]string, len(parts))
	for i, part := range parts {
		begin, err := NarrowContinuation(whole, part)
		if err != nil {
			return whole, err
		}
		partFeed := Feed{Container: feed.Container, FeedRange: part}
		if ends[i], err = s.scanFeed(ctx, partFeed, begin); err != nil {
			return whole, err
		}
	}
	return JoinContinuations(ends)
}
