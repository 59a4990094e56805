package changefeed

import (
	"context"
	"errors"
	"time"

	"cosmosblog/store/follow"
)

// FeedLag is the distance from a position in a change feed to its end.
type FeedLag struct {
	// Changes is an upper bound of the number of changes after the position, and 0 at the end of the
	// feed. It counts LSNs, some of which have no change. An item that changed again has only its last
	// LSN, and internal operations of the service, such as deletions, use LSNs too. If the account
	// does not report the end of the feed, Changes is 1.
	Changes int64
	Since   time.Time // of the first of them, by the account's clock, to the second; zero at the end
}

// FeedLag returns the lag of a continuation in a feed range: one request for a page of one change.
// If the continuation is empty, or belongs to an earlier container of this name, FeedLag returns
// the lag of the feed's beginning. If the feed range was split since, it returns the lag of one
// part that has changes.
func (f *Feeds) FeedLag(ctx context.Context, container string, feedRange follow.FeedRange, continuation string) (FeedLag, error) {
	page, err := f.ReadPage(ctx, container, feedRange, continuation, 1)
	if errors.Is(err, follow.ErrContainerReplaced) && continuation != "" {
		return f.FeedLag(ctx, container, feedRange, "")
	}
	if err != nil || len(page.Items) == 0 {
		return FeedLag{}, err
	}
	return lagBefore(page)
}

// lagBefore returns the lag of the position before a page.
func lagBefore(p follow.Page) (FeedLag, error) {
	next, err := follow.ChangeOf(p.Items[0])
	if err != nil {
		return FeedLag{}, err
	}
	atLeast := int64(len(p.Items)) // if the account does not report the end of the feed
	return FeedLag{Changes: max(atLeast, p.End-next.LSN+1), Since: next.Time()}, nil
}
