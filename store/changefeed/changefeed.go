package changefeed

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/store/cosmos"
)

// ErrContainerReplaced tells that a continuation belongs to a container which is no longer there: one of the same name was
// made anew, and has a change feed of its own.
var ErrContainerReplaced = cosmos.NewConclusion("changefeed: the container was created again since its change feed was read")

// ResourceID reads the id that the account gave to a container when it was made. One that was made anew under the same
// name has another.
func (s *Feeds) ResourceID(ctx context.Context, container string) (string, error) {
	response, err := s.db.Container(container).Read(ctx, nil)
	if err != nil {
		return "", cosmos.ToBlogError(err)
	}
	return response.ContainerProperties.ResourceID, nil
}

// FeedRanges lists the feed ranges of a container as they are now. Changes takes also those that were split since.
func (s *Feeds) FeedRanges(ctx context.Context, container string) ([]FeedRange, error) {
	ranges, err := s.db.Container(container).ReadFeedRanges(ctx, nil)
	if err != nil {
		return nil, cosmos.ToBlogError(err)
	}
	feedRanges := make([]FeedRange, len(ranges))
	for i, r := range ranges {
		feedRanges[i] = FeedRange{r.MinInclusive, r.MaxExclusive}
	}
	return feedRanges, nil
}

// ChangePage is one page of a change feed: each item that changed, once, as it stood when the page was read. It is at the
// end of the feed where it has no changes.
type ChangePage struct {
	Changes      []Change
	Continuation string // where the next page begins
	ResourceID   string // of the container that the continuation belongs to
}

// Changes reads one page of the change feed of a container, limit changes or the whole of a longer transaction. Without
// a continuation it begins at the container's beginning. The feed shows the last state of what was created or written,
// and no deletions. Error: ErrContainerReplaced where the continuation is of an earlier container of this name.
func (s *Feeds) Changes(ctx context.Context, container string, feedRange FeedRange, continuation string, limit int) (ChangePage, error) {
	page, err := s.ReadPage(ctx, container, feedRange, continuation, limit)
	if err != nil {
		return ChangePage{}, err
	}
	changes := changesOf(container, page.Items)
	for i := range changes {
		changes[i].ResourceID = page.ResourceID
	}
	return ChangePage{
		Changes:      changes,
		Continuation: page.Continuation,
		ResourceID:   page.ResourceID,
	}, nil
}

// Page is a page of a change feed with the items as they lie.
type Page struct {
	Items                    [][]byte
	Continuation, ResourceID string
	end                      int64 // LSN of the last change of the feed range; below 0 if the account does not tell
}

// ReadPage reads a page as Changes does, of any container.
func (s *Feeds) ReadPage(ctx context.Context, container string, feedRange FeedRange, continuation string, limit int) (Page, error) {
	options := &azcosmos.ChangeFeedOptions{
		MaxItemCount: int32(limit),
		FeedRange:    &azcosmos.FeedRange{MinInclusive: feedRange.Min, MaxExclusive: feedRange.Max},
	}
	if continuation != "" {
		// azcosmos reads from the beginning where it does not understand a continuation: it is looked at before.
		if _, err := continuationResourceID(continuation); err != nil {
			return Page{}, err
		}
		options.Continuation = &continuation
	}
	response, err := s.db.Container(container).ReadChangeFeed(ctx, options)
	if err != nil {
		return Page{}, s.changesFailure(ctx, container, continuation, err)
	}
	resourceID, err := continuationResourceID(response.ContinuationToken)
	if err != nil {
		return Page{}, err
	}
	if response.ResourceID != "" && response.ResourceID != resourceID {
		return Page{}, ErrContainerReplaced
	}
	page := Page{end: -1, Items: response.Items, Continuation: response.ContinuationToken, ResourceID: resourceID}
	if response.RawResponse != nil {
		page.end = cosmos.SessionLSN(response.RawResponse)
	}
	return page, nil
}

// changesFailure finds out whether the container is another than the continuation's: azcosmos says so in an error that
// cannot be told from others.
func (s *Feeds) changesFailure(ctx context.Context, container, continuation string, cause error) error {
	if status, _ := cosmos.StatusOf(cause); continuation == "" || status != 0 || ctx.Err() != nil {
		return cosmos.ToBlogError(cause)
	}
	before, err := continuationResourceID(continuation)
	if err != nil {
		return err
	}
	if now, err := s.ResourceID(ctx, container); err == nil && now != before {
		return ErrContainerReplaced
	}
	return cosmos.ToBlogError(cause)
}
