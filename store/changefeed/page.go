package changefeed

import (
	"context"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/follow"
)

// ChangePage is a page of a change feed. It holds each changed item once, in its state at the
// time of reading. A page without changes is at the end of the feed.
type ChangePage struct {
	Changes      []Change
	Continuation string // where the next page begins
	ResourceID   string // of the container that Continuation belongs to

	// Position is the session token of the replica's state, if the page reaches the end of the feed:
	// the pages up to this one then have all changes up to it. It is empty otherwise. An item that has
	// changed again is only in a later page, so a page before the end may lack changes of any age.
	// Position is also empty if it is unknown, as in a range that was split.
	Position string
	AsOf     blog.DateTime // before the page was read, by the database's clock

	IsBeyondEnd  bool   // as Page.IsBeyondEnd
	began, token string // as of Page
}

// Changes reads one page of a container's change feed: up to limit changes, or more if one
// transaction made more. It reads from the continuation, or from the container's creation if
// that is empty. Errors: ErrContainerReplaced if the continuation belongs to an earlier
// container of this name; an error if the continuation is malformed.
func (f *Feeds) Changes(ctx context.Context, container string, feedRange follow.FeedRange, continuation string, limit int) (ChangePage, error) {
	asOf := blog.NewDateTime(f.db.Now())
	page, err := f.ReadPage(ctx, container, feedRange, continuation, limit)
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
		Position:     PositionOf(page),
		AsOf:         asOf,
		IsBeyondEnd:  page.IsBeyondEnd(),
		began:        page.Began,
		token:        page.Token,
	}, nil
}

// PositionOf returns ChangePage.Position: the state of the replica if the page has reached it.
func PositionOf(p follow.Page) string {
	lsn, ok := p.Reached()
	if !ok {
		return ""
	}
	return cosmos.SessionAt(p.Token, lsn)
}

// HasLost reports whether the database has lost the state that a page beyond the end of its feed
// begins at, by a request to a partition of the feed range. It is false if a replica that lags has
// answered the page, and if the partition is not in the range of the answer.
//
// The request is a write that changes nothing (cosmos.LatestState). Writes are executed on the
// latest state, and each is assigned a new session token (learn.microsoft.com/dotnet/api/
// microsoft.azure.cosmos.queryrequestoptions.sessiontoken). So if its number is less than the
// position, no replica has more. That the token of a write that was rejected is as late as that,
// too, is our belief.
func (f *Feeds) HasLost(ctx context.Context, container, partition string, page ChangePage) (bool, error) {
	token, err := cosmos.LatestState(ctx, f.db.Container(container), partition)
	if err != nil {
		return false, err
	}
	number, ok := follow.ContinuationNumber(page.began)
	at := cosmos.SessionAt(page.token, number)
	latest := cosmos.SessionToken{}
	latest.Merge(token)
	id, _, _ := strings.Cut(at, ":")
	return ok && latest[id] != "" && !latest.Covers(at), nil
}

// ReadPage reads a page as Changes does, from any container and without decoding it. If a page
// shows nothing and ends before the state of the replica, ReadPage reads another one.
func (f *Feeds) ReadPage(ctx context.Context, container string, feedRange follow.FeedRange, continuation string, limit int) (follow.Page, error) {
	page, err := f.readPage(ctx, container, feedRange, continuation, limit)
	reached, ok := follow.ContinuationNumber(page.Continuation)
	if err != nil || !ok || len(page.Items) > 0 || reached >= page.End || follow.IsFromNow(continuation) {
		return page, err
	}
	name, quiet := follow.Feed{Container: container, FeedRange: feedRange}.Name(), quietEnd{page.Continuation, page.End}
	f.mu.Lock()
	isKnown := f.quiet[name] == quiet
	f.mu.Unlock()
	if !isKnown {
		ctx = cosmos.InSession(ctx)
		cosmos.JoinSession(ctx, container, page.Token)
		next, err := f.readPage(ctx, container, feedRange, page.Continuation, limit)
		switch {
		case err != nil:
			return page, nil // which is valid, and has no later position
		case len(next.Items) > 0 || next.Continuation != page.Continuation:
			return next, nil
		}
		f.mu.Lock()
		f.quiet[name] = quiet
		f.mu.Unlock()
	}
	page.Passed = page.End
	return page, nil
}

// quietEnd is the end of a feed range up to which nothing comes after a continuation.
//
// The etag of a page without changes may stay where it is while other changes move the end of the
// feed range, which no page of the range ever shows: deletions, expirations and, on the range of a
// partition that was split, the changes of its other part. No document says which it does. The
// session token of the page is then ahead of its etag, but nothing says that the page was read in
// the state of the token. A second page that is read in the token's session was, or in a later one.
type quietEnd struct {
	continuation string
	end          int64
}

// readPage reads one page.
func (f *Feeds) readPage(ctx context.Context, container string, feedRange follow.FeedRange, continuation string, limit int) (follow.Page, error) {
	from := continuation
	if from == "" {
		from = follow.ContinuationFromStart(feedRange)
	} else if _, err := follow.ContinuationResourceID(from); err != nil { // azcosmos would read from the beginning
		return follow.Page{}, err
	}
	options := &azcosmos.ChangeFeedOptions{MaxItemCount: int32(limit), Continuation: &from}
	response, err := f.db.Container(container).ReadChangeFeed(ctx, options)
	if err != nil {
		return follow.Page{}, f.pageError(ctx, container, continuation, err)
	}
	resourceID, err := follow.ContinuationResourceID(response.ContinuationToken)
	if err != nil {
		return follow.Page{}, err
	}
	if response.ResourceID != "" && response.ResourceID != resourceID {
		f.ForgetLayout(container)
		return follow.Page{}, follow.ErrContainerReplaced
	}
	if len(follow.ContinuationRanges(response.ContinuationToken)) > 1 { // a range was split
		f.ForgetLayout(container)
	}
	page := follow.Page{End: -1, Items: response.Items, Began: continuation, Continuation: response.ContinuationToken, ResourceID: resourceID}
	if response.RawResponse != nil {
		page.End, page.Token = cosmos.SessionLSN(response.RawResponse), response.RawResponse.Header.Get(cosmos.SessionTokenHeader)
	}
	return page, nil
}

// pageError returns the error for a failed read of a page: ErrContainerReplaced if the continuation
// belongs to another container, and the cause otherwise. azcosmos reports another container by an
// error without a type or status.
func (f *Feeds) pageError(ctx context.Context, container, continuation string, cause error) error {
	if status, _ := cosmos.StatusOf(cause); continuation == "" || status != 0 || ctx.Err() != nil {
		return cosmos.ToBlogError(cause)
	}
	before, err := follow.ContinuationResourceID(continuation)
	if err != nil {
		return err
	}
	if now, err := f.ResourceID(ctx, container); err == nil && now != before {
		f.ForgetLayout(container)
		return follow.ErrContainerReplaced
	}
	return cosmos.ToBlogError(cause)
}

// ResourceID reads the id that the account assigned to a container when it was created. A
// container that is created again under the same name has another id.
func (f *Feeds) ResourceID(ctx context.Context, container string) (string, error) {
	response, err := f.db.Container(container).Read(ctx, nil)
	if err != nil {
		return "", cosmos.ToBlogError(err)
	}
	return response.ContainerProperties.ResourceID, nil
}
