package changefeed

import (
	"context"
	"errors"
	"time"

	"cosmosblog/store/cosmos"
)

// FeedLag is the distance from a position in a change feed to its end.
type FeedLag struct {
	// Changes is an upper bound of the number of changes after the position, 0 at the end of the
	// feed. It counts LSNs. An item that changed again leaves its earlier LSN unused, and internal
	// operations of the service, such as deletions, use LSNs too. Changes is 1 if there are changes
	// but the account does not report the end of the feed.
	Changes int64
	Since   time.Time // of the first of them, by the account's clock, to the second; zero at the end
}

// FeedLag returns the lag of a continuation in a feed range. If the continuation is empty, or
// belongs to an earlier container of this name, the lag is that of the feed's beginning. It
// sends one request for a page of one change. If the feed range was split since, the lag is that
// of only one part that has changes.
func (f *Feeds) FeedLag(ctx context.Context, container string, feedRange FeedRange, continuation string) (FeedLag, error) {
	page, err := f.ReadPage(ctx, container, feedRange, continuation, 1)
	if errors.Is(err, ErrContainerReplaced) && continuation != "" {
		return f.FeedLag(ctx, container, feedRange, "")
	}
	if err != nil || len(page.Items) == 0 {
		return FeedLag{}, err
	}
	return page.lag()
}

// lag returns the lag of the position before the page.
func (p Page) lag() (FeedLag, error) {
	var next struct {
		Number    int64 `json:"_lsn"`
		Timestamp int64 `json:"_ts"`
	}
	if err := cosmos.Decode(p.Items[0], &next); err != nil {
		return FeedLag{}, err
	}
	atLeast := int64(len(p.Items)) // if the account does not report the end of the feed
	return FeedLag{
		Changes: max(atLeast, p.end-next.Number+1),
		Since:   time.Unix(next.Timestamp, 0),
	}, nil
}
