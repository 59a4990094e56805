package changefeed

import (
	"context"
	"strings"

	"cosmosblog/store/cosmos"
	"cosmosblog/store/follow"
	"cosmosblog/store/schema"
)

// place is a partition of a feed range, and the id of the partition key range that has it.
type place struct{ partition, id string }

// AdvanceSession makes the session of ctx current in a whole container: later reads of it see every
// write that was acknowledged before. It sends one request to each feed range that has an item
// (cosmos.LatestState). If a replica that lags shows none yet, because the first one ever was
// just written, the range is left out. Error: that of a request.
func (f *Feeds) AdvanceSession(ctx context.Context, container string) error {
	for isAgain := false; ; isAgain = true {
		isSame, err := f.advanceRanges(ctx, container)
		if err != nil || isSame || isAgain {
			return err
		}
		f.ForgetLayout(container)
	}
}

// advanceRanges advances the session in each feed range of a container, as far as they are known.
// It returns false if the layout may have changed since it was read: a range is new, or the
// partition that stands for it is in another one now.
func (f *Feeds) advanceRanges(ctx context.Context, container string) (isSame bool, err error) {
	layout, err := f.Layout(ctx, container)
	if err != nil {
		return false, err
	}
	isSame = true
	for _, feedRange := range layout.Ranges {
		known, err := f.placeIn(ctx, container, feedRange)
		if err != nil {
			return false, err
		}
		if known.partition == "" {
			continue // nothing was ever written there
		}
		token, err := cosmos.LatestState(ctx, f.db.Container(container), known.partition)
		if err != nil {
			return false, err
		}
		cosmos.JoinSession(ctx, container, token)
		if id, _, _ := strings.Cut(token, ":"); id != known.id {
			isSame = false
			f.keepPlace(container, feedRange, place{known.partition, id})
		}
	}
	return isSame, nil
}

// Partition returns a partition key of a feed range, or "" if the range has no items. It reads one
// once: a partition key is always in the same feed range.
func (f *Feeds) Partition(ctx context.Context, container string, feedRange follow.FeedRange) (string, error) {
	known, err := f.placeIn(ctx, container, feedRange)
	return known.partition, err
}

func (f *Feeds) placeIn(ctx context.Context, container string, feedRange follow.FeedRange) (place, error) {
	f.mu.Lock()
	known := f.places[follow.Feed{Container: container, FeedRange: feedRange}.Name()]
	f.mu.Unlock()
	if known.partition != "" {
		return known, nil
	}
	page, err := f.ReadPage(ctx, container, feedRange, "", 1)
	if err != nil || len(page.Items) == 0 {
		return place{}, err
	}
	if known.partition, err = schema.PartitionKeyOf(container, page.Items[0]); err == nil {
		f.keepPlace(container, feedRange, known)
	}
	return known, err
}

func (f *Feeds) keepPlace(container string, feedRange follow.FeedRange, p place) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.places[follow.Feed{Container: container, FeedRange: feedRange}.Name()] = p
}
