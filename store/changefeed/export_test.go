package changefeed

import (
	"context"

	"cosmosblog/store/follow"
)

// Exported for the package's tests.
const (
	MaxLettersCounted = maxLettersCounted
	MaxReason         = maxReason
)

// EndLSN is endLSN.
func (f *Feeds) EndLSN(ctx context.Context, container string, feedRange follow.FeedRange) (int64, error) {
	return f.endLSN(ctx, container, feedRange)
}

// HasChangeUpTo is hasChangeUpTo.
func (f *Feeds) HasChangeUpTo(
	ctx context.Context, container string, feedRange follow.FeedRange, continuation string, end int64,
) (bool, error) {
	return f.hasChangeUpTo(ctx, container, feedRange, continuation, end)
}
