package changefeed

import (
	"context"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
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
func (f *Feeds) Changes(ctx context.Context, container string, feedRange FeedRange, continuation string, limit int) (ChangePage, error) {
	asOf := blog.NewDateTime(f.db.Now())
	page, err := f.ReadPage(ctx, container, feedRange, continuation, limit)
	if err != nil {
		return ChangePage{}, err
	}
	changes := changesOf(container, page.Items)
	for i := range changes {
		changes[i].ResourceID = page.resourceID
	}
	return ChangePage{
		Changes:      changes,
		Continuation: page.Continuation,
		ResourceID:   page.resourceID,
		Position:     page.Position(),
		AsOf:         asOf,
		IsBeyondEnd:  page.IsBeyondEnd(),
		began:        page.began,
		token:        page.token,
	}, nil
}

// Page is a page of a change feed, or of ReadItems, with its items as stored.
type Page struct {
	Items        [][]byte
	Continuation string
	began        string // the continuation from which the page was read
	resourceID   string // of the container
	end          int64  // LSN of the last change in the feed range; negative if unknown
	passed       int64  // up to this LSN, there is nothing after began
	token        string // session token of the answer; empty if unknown
}

// BeyondEndLimit is the time for which a position must stay beyond the end of its feed until that
// ends a history, if nothing shows it earlier (Feeds.HasLost). For a shorter time, replicas that
// lag behind may answer. All requests go to the region that writes, so a lag between regions does
// not look like that.
const BeyondEndLimit = time.Minute

// Position returns ChangePage.Position: the state of the replica if the continuation has reached
// it. The continuation of a page without changes has certainly reached its own number. The numbers
// of continuations and of session tokens are the same, as those of azure-sdk-for-java#43701 show.
func (p Page) Position() string {
	reached, ok := continuationNumber(p.Continuation)
	switch {
	case !ok || p.end < 0:
		return ""
	case reached >= p.end:
		return cosmos.SessionAt(p.token, p.end)
	case len(p.Items) == 0:
		return cosmos.SessionAt(p.token, max(reached, p.passed))
	}
	return ""
}

// IsBeyondEnd reports whether the page has no items because it was read from a position beyond the
// last change of the feed range, as the replica knows it. The replica is behind, or the container
// was reset to an earlier state. An account may answer with that position, or with its own end.
func (p Page) IsBeyondEnd() bool {
	began, ok := continuationNumber(p.began)
	return ok && len(p.Items) == 0 && p.end >= 0 && began > p.end
}

// ReadWithinEnd calls read, which reads a page from a position, once a second until the page is not
// beyond the end of its feed: a replica that lags catches up. Errors: ErrWentBack if that takes
// BeyondEndLimit by the clock now; those of read and pause.
func ReadWithinEnd(read func() (Page, error), now func() time.Time, pause func(time.Duration) error) (Page, error) {
	page, err := read()
	for begun := now(); err == nil && page.IsBeyondEnd(); {
		if now().Sub(begun) >= BeyondEndLimit {
			return page, ErrWentBack
		}
		if err = pause(time.Second); err == nil {
			page, err = read()
		}
	}
	return page, err
}

// ErrWentBack reports that a database went back to an earlier state, in which a position means
// nothing.
var ErrWentBack = cosmos.NewDefiniteError("changefeed: the database went back to an earlier state")

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
	number, ok := continuationNumber(page.began)
	at := cosmos.SessionAt(page.token, number)
	latest := cosmos.SessionToken{}
	latest.Merge(token)
	id, _, _ := strings.Cut(at, ":")
	return ok && latest[id] != "" && !latest.Covers(at), nil
}

// ReadPage reads a page as Changes does, from any container and without decoding it. If a page
// shows nothing and ends before the state of the replica, ReadPage reads another one.
func (f *Feeds) ReadPage(ctx context.Context, container string, feedRange FeedRange, continuation string, limit int) (Page, error) {
	page, err := f.readPage(ctx, container, feedRange, continuation, limit)
	reached, ok := continuationNumber(page.Continuation)
	if err != nil || !ok || len(page.Items) > 0 || reached >= page.end || IsFromNow(continuation) {
		return page, err
	}
	name, quiet := Feed{container, feedRange}.Name(), quietEnd{page.Continuation, page.end}
	f.mu.Lock()
	isKnown := f.quiet[name] == quiet
	f.mu.Unlock()
	if !isKnown {
		ctx = cosmos.InSession(ctx)
		cosmos.JoinSession(ctx, container, page.token)
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
	page.passed = page.end
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
func (f *Feeds) readPage(ctx context.Context, container string, feedRange FeedRange, continuation string, limit int) (Page, error) {
	from := continuation
	if from == "" {
		from = continuationFromStart(feedRange)
	} else if _, err := continuationResourceID(from); err != nil { // azcosmos would read from the beginning
		return Page{}, err
	}
	options := &azcosmos.ChangeFeedOptions{MaxItemCount: int32(limit), Continuation: &from}
	response, err := f.db.Container(container).ReadChangeFeed(ctx, options)
	if err != nil {
		return Page{}, f.pageError(ctx, container, continuation, err)
	}
	resourceID, err := continuationResourceID(response.ContinuationToken)
	if err != nil {
		return Page{}, err
	}
	if response.ResourceID != "" && response.ResourceID != resourceID {
		f.ForgetLayout(container)
		return Page{}, ErrContainerReplaced
	}
	if len(ContinuationRanges(response.ContinuationToken)) > 1 { // a range was split
		f.ForgetLayout(container)
	}
	page := Page{end: -1, Items: response.Items, began: continuation, Continuation: response.ContinuationToken, resourceID: resourceID}
	if response.RawResponse != nil {
		page.end, page.token = cosmos.SessionLSN(response.RawResponse), response.RawResponse.Header.Get(cosmos.SessionTokenHeader)
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
	before, err := continuationResourceID(continuation)
	if err != nil {
		return err
	}
	if now, err := f.ResourceID(ctx, container); err == nil && now != before {
		f.ForgetLayout(container)
		return ErrContainerReplaced
	}
	return cosmos.ToBlogError(cause)
}

// ErrContainerReplaced reports that a continuation belongs to a deleted container. A new container
// with the same name has its own change feed.
var ErrContainerReplaced = cosmos.NewDefiniteError("changefeed: the container was deleted and created again since its change feed was read")

// ResourceID reads the id that the account assigned to a container when it was created. A
// container that is created again under the same name has another id.
func (f *Feeds) ResourceID(ctx context.Context, container string) (string, error) {
	response, err := f.db.Container(container).Read(ctx, nil)
	if err != nil {
		return "", cosmos.ToBlogError(err)
	}
	return response.ContainerProperties.ResourceID, nil
}
