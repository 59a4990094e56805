package changefeed

import (
	"context"
	"math"

	"cosmosblog/store/cosmos"
)

// FeedEnd gives the number of the last change in a feed range, or a greater one that is given to none. Numbers grow with
// every change of the feed range. Where the account does not say it, no change's number is greater.
func (s *Feeds) FeedEnd(ctx context.Context, container string, feedRange FeedRange) (int64, error) {
	page, err := s.ReadPage(ctx, container, feedRange, "", 1)
	if err != nil {
		return 0, err
	}
	if number := page.end; number >= 0 {
		return number, nil
	}
	return math.MaxInt64, nil
}

// IsBehind tells whether a change is still to come after a continuation whose number is not greater than end. An item that was
// changed since has the number of its last change alone.
// Error: ErrContainerReplaced where the continuation is of an earlier container of this name.
func (s *Feeds) IsBehind(ctx context.Context, container string, feedRange FeedRange, continuation string, end int64) (bool, error) {
	page, err := s.ReadPage(ctx, container, feedRange, continuation, 1)
	if err != nil || len(page.Items) == 0 {
		return false, err
	}
	next, err := numberOf(page.Items[0])
	return err == nil && next <= end, err
}

// numberOf reads the number of a change.
func numberOf(item []byte) (int64, error) {
	var change struct {
		LSN int64 `json:"_lsn"`
	}
	err := cosmos.Decode(item, &change)
	return change.LSN, err
}
