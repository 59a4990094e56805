package changefeed

import (
	"context"
	"errors"
	"time"

	"cosmosblog/store/cosmos"
)

// FeedLag is what comes after a position in a change feed.
type FeedLag struct {
	// Changes is how many changes come at most, 0 at the end of the feed. It counts numbers of changes: an item that changed
	// again has left its earlier number unused, and what the service keeps to itself, such as deletions, has numbers too.
	Changes int64
	Since   time.Time // when the first of them was written, by the account's clock and to the second; zero at the end
}

// FeedLag looks at what comes after a continuation in a feed range; without one, after its beginning, as where the
// continuation is of an earlier container of this name. It costs the request of one page with one change. Of a feed range
// that was split since, it tells of one part alone in which something is new.
func (s *Feeds) FeedLag(ctx context.Context, container string, feedRange FeedRange, continuation string) (FeedLag, error) {
	page, err := s.ReadPage(ctx, container, feedRange, continuation, 1)
	if errors.Is(err, ErrContainerReplaced) && continuation != "" {
		return s.FeedLag(ctx, container, feedRange, "")
	}
	if err != nil || len(page.Items) == 0 {
		return FeedLag{}, err
	}
	return page.lag()
}

// lag is that of a position whose next page this is.
func (p Page) lag() (FeedLag, error) {
	var next struct {
		Number    int64 `json:"_lsn"`
		Timestamp int64 `json:"_ts"`
	}
	if err := cosmos.Decode(p.Items[0], &next); err != nil {
		return FeedLag{}, err
	}
	atLeast := int64(len(p.Items)) // also where the account does not say where the feed ends
	return FeedLag{
		Changes: max(atLeast, p.end-next.Number+1),
		Since:   time.Unix(next.Timestamp, 0),
	}, nil
}
