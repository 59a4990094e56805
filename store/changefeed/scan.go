package changefeed

import "context"

// scanRounds is the number of times that a feed is read to its end. The second round reads the
// changes made during the first. If an item changes again during the short second round,
// projectors write its views anyway.
const scanRounds = 2

// Scanner reads change feeds page by page.
type Scanner struct {
	*Feeds
	PageSize int // changes in a page
	// Begin returns the continuation from which a feed is read; empty means its beginning.
	Begin func(Feed) string
	// Visit is called with each page, one at a time, and with the progress in its feed.
	Visit func(Page, Feed, Progress) error
}

// Scan reads the change feed of a container, feed range by feed range, to its current end. It
// then does so once more, for the changes made since. There is no third round, so a scan ends
// even if the container is constantly written. It waits if the account throttles it. Errors:
// those of Visit, or the first of the database.
func (s Scanner) Scan(ctx context.Context, container string) error {
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
