package store

import (
	"context"
	"math"
	"strings"
)

// FeedEnd gives the number of the last change in a feed range, or a greater one that is given to none. Numbers grow with
// every change of the feed range. Where the account does not say it, no change's number is greater.
func (s *Store) FeedEnd(ctx context.Context, container string, feedRange FeedRange) (int64, error) {
	page, err := s.changedItems(ctx, container, feedRange, "", 1)
	if err != nil {
		return 0, err
	}
	if number := page.endNumber(); number >= 0 {
		return number, nil
	}
	return math.MaxInt64, nil
}

// IsBehind tells whether a change is still to come after a continuation whose number is not greater than end. An item that was
// changed since has the number of its last change alone.
// Error: ErrContainerReplaced where the continuation is of an earlier container of this name.
func (s *Store) IsBehind(ctx context.Context, container string, feedRange FeedRange, continuation string, end int64) (bool, error) {
	page, err := s.changedItems(ctx, container, feedRange, continuation, 1)
	if err != nil || len(page.items) == 0 {
		return false, err
	}
	next, err := numberOf(page.items[0])
	return err == nil && next <= end, err
}

// endNumber reads, from the session token of a page of the change feed, the number of the last change there is; below 0
// where the account does not say it.
func (p itemPage) endNumber() int64 {
	_, position, _ := strings.Cut(p.end, ":")
	_, number := parsePosition(position)
	return number
}

// numberOf reads the number of a change.
func numberOf(item []byte) (int64, error) {
	var change struct {
		LSN int64 `json:"_lsn"`
	}
	err := decodeInto(item, &change)
	return change.LSN, err
}
