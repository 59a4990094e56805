package changefeed

import (
	"context"
	"slices"
)

// scanRounds is the number of times that feeds are read to their ends. The second round has the
// changes made during the first. There is no third, because a database in use always has further
// changes.
const scanRounds = 2

// Scanner reads change feeds to their ends, or all items of a container by query, page by page.
type Scanner struct {
	*Feeds
	PageSize int // items in a page
	// Begin returns the continuation from which a feed is read; empty means its beginning. A query has
	// a single one, for the feed AllOf the container.
	Begin func(Feed) string
	// Read reads a page of a feed; if nil, with ReadPage, and it waits if the account throttles it.
	Read func(ctx context.Context, feed Feed, continuation string, limit int) (Page, error)
	// Visit is called with each page, one at a time, and with the progress in its feed, which is zero
	// by query and if the page is empty. A scan that begins at the page's continuation continues after
	// the page. If that has several parts, because the range of the feed was split
	// (ContinuationRanges), the page is of one of them, and Scan goes on with each as a feed of its
	// own.
	Visit func(Page, Feed, Progress) error
}

// AllOf returns the feed that stands for a whole container.
func AllOf(container string) Feed { return Feed{container, FeedRange{Max: "FF"}} }

// FeedsOf returns the present change feeds of containers, in their order. It waits if the account
// throttles it.
func (f *Feeds) FeedsOf(ctx context.Context, containers ...string) (feeds []Feed, err error) {
	for _, container := range containers {
		var ranges []FeedRange
		err := f.db.RetryTransient(ctx, func() (err error) {
			ranges, err = f.FeedRanges(ctx, container)
			return err
		})
		if err != nil {
			return nil, err
		}
		for _, r := range ranges {
			feeds = append(feeds, Feed{container, r})
		}
	}
	return feeds, nil
}

// Measure returns the position and the end of each feed that has changes after its Begin, from the
// first of them. Errors: those of Read.
func (s Scanner) Measure(ctx context.Context, feeds []Feed) (map[Feed]Progress, error) {
	measured := map[Feed]Progress{}
	for _, feed := range feeds {
		page, err := s.read(ctx, feed, s.Begin(feed), 1)
		if err != nil {
			return nil, err
		}
		if next := ProgressOf(page); next.Total > 0 {
			measured[feed] = Progress{Done: max(0, next.Done-1), Total: next.Total}
		}
	}
	return measured, nil
}

// scanPosition is where a scan continues in a feed.
type scanPosition struct {
	feed         Feed
	continuation string
}

// Scan reads feeds, one after the other, to their current ends. It then does so once more, for the
// changes made since. There is no third round, so a scan ends even if the containers are constantly
// written. Errors: those of Visit, and of Read.
func (s Scanner) Scan(ctx context.Context, feeds []Feed) error {
	positions := make([]scanPosition, len(feeds))
	for i, feed := range feeds {
		positions[i] = scanPosition{feed, s.Begin(feed)}
	}
	for range scanRounds {
		for i := 0; i < len(positions); i++ { // a split adds positions
			var err error
			if positions, err = s.scanFeed(ctx, positions, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// scanFeed reads the feed of a position to the end that it had when its first page was read, and
// returns all positions. If the feed range was split, there is one for each part, and scanFeed
// reads the first: numbers of different parts cannot be compared.
func (s Scanner) scanFeed(ctx context.Context, positions []scanPosition, i int) ([]scanPosition, error) {
	for goal, done := int64(-1), int64(-2); goal < 0 || done < goal; {
		at := &positions[i]
		parts, err := SplitContinuation(at.continuation)
		if err != nil {
			return positions, err
		}
		if len(parts) > 0 {
			of := make([]scanPosition, len(parts))
			for n, part := range parts {
				of[n] = scanPosition{Feed{at.feed.Container, part.FeedRange}, part.Continuation}
			}
			positions = slices.Replace(positions, i, i+1, of...)
			goal, done = -1, -2
			continue
		}
		page, err := s.read(ctx, at.feed, at.continuation, s.PageSize)
		if err != nil {
			return positions, err
		}
		progress := ProgressOf(page)
		if err := s.Visit(page, at.feed, progress); err != nil {
			return positions, err
		}
		at.continuation = page.Continuation
		switch {
		case len(ContinuationRanges(page.Continuation)) > 1: // the other parts are still to be read
		case len(page.Items) == 0:
			return positions, nil
		case goal < 0:
			goal, done = progress.Goal(), progress.Done
		default:
			done = progress.Done
		}
	}
	return positions, nil
}

func (s Scanner) read(ctx context.Context, feed Feed, continuation string, limit int) (page Page, err error) {
	if s.Read != nil {
		return s.Read(ctx, feed, continuation, limit)
	}
	err = s.db.RetryTransient(ctx, func() (err error) {
		page, err = s.ReadPage(ctx, feed.Container, feed.FeedRange, continuation, limit)
		return err
	})
	return page, err
}

// ScanItems reads every item of a container once, by query, if the feeds may not show all items:
// unless History.HasWholeFeeds. What is written meanwhile is left to projectors. Pages may be
// empty. It waits if the account throttles it. Errors: those of Visit, or the first of the
// database.
func (s Scanner) ScanItems(ctx context.Context, container string) error {
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
