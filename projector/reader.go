package projector

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/follow"
	"cosmosblog/store/schema"
)

// reader reads and projects the changes of one lease's feed range.
type reader struct {
	feeds       *changefeed.Feeds
	held        *heldLease
	projections []projection
	pageSize    int
	parallel    int
	retrier     retrier
	now         func() time.Time
	replaced    bool // whether the next balance will replace the lease by its successors

	beyondEndSince time.Time // when the first of the latest pages was beyond the end; zero if the last was not
}

func (p *Projector) newReader(held *heldLease, container string) *reader {
	return &reader{
		feeds:       p.feeds,
		held:        held,
		projections: p.projections(container),
		pageSize:    p.options.PageSize,
		parallel:    p.options.Parallel,
		retrier:     p.newRetrier(),
		now:         p.options.Now,
	}
}

// step reads and projects one page, and then advances the checkpoint.
func (r *reader) step(ctx context.Context) (stepResult, error) {
	ctx = cosmos.WithSession(ctx) // later reads return the changes of the page, and our own writes
	at, begun := r.held.current(), r.now()
	page, err := r.feeds.Changes(ctx, at.Container, at.Range, at.Continuation, r.pageSize)
	switch {
	case errors.Is(err, follow.ErrContainerReplaced):
		return r.restart(ctx, at)
	case err != nil:
		return idle, err
	case page.IsBeyondEnd:
		return r.beyondEnd(ctx, at, page)
	}
	r.beyondEndSince = time.Time{}
	for i := range page.Changes {
		page.Changes[i].History = at.History
	}
	isEnd := len(page.Changes) < r.pageSize
	switch {
	case len(page.Changes) == 0 && follow.IsFromNow(at.Continuation):
		return r.beginAtPresent(ctx, at, page)
	case len(page.Changes) == 0:
		r.held.noteNew(begun)
		if page.ResourceID != at.ResourceID { // the first page of the container
			r.held.noteEnd()
			return idle, nil
		}
		done, err := r.held.atEnd(ctx, page.Position, page.AsOf)
		if !done {
			return unsaved, err
		}
		return idle, err
	case page.ResourceID != at.ResourceID: // the first page of the container
		return r.restart(ctx, at)
	}
	for _, changes := range r.portions(latest(page.Changes)) {
		if err = r.project(ctx, changes); err != nil {
			break
		}
	}
	if view := wentBack(at, ofViews(cosmos.FirstWrittenInSession(ctx))); view != "" && mayEnd(at, page) {
		return r.endHistory(ctx, at, "the container "+view+" was reset to an earlier state")
	}
	if err == nil {
		err = r.seeRepeated(ctx, at)
	}
	if err != nil {
		r.held.noteAttempt()
		return idle, err
	}
	result := more
	if isEnd {
		r.held.noteNew(begun)
		result = drained
	}
	return result, r.held.advance(ctx, progress{
		history:      at.History,
		resourceID:   page.ResourceID,
		continuation: page.Continuation,
		position:     page.Position,
		asOf:         page.AsOf,
		views:        ofViews(cosmos.SeenInSession(ctx)),
		written:      ofViews(cosmos.WrittenInSession(ctx)),
		changes:      len(page.Changes),
		awaited:      at.Container == schema.Posts, // by store/sessions
	})
}

// seeRepeated makes the session of a step current in lists if the step may repeat the work of an
// earlier attempt. A copy in users tells that the entries of its post are written, so a repeated
// step sends nothing to lists. The checkpoint must have the state of these entries all the same.
//
// The other views need nothing: each projection of a change sends a request to the partition of its
// copy, and the answer has the state in which the copy was found.
func (r *reader) seeRepeated(ctx context.Context, at changefeed.Lease) error {
	if at.Container != schema.Posts || !r.held.mayRepeat() {
		return nil
	}
	return r.feeds.AdvanceSession(ctx, schema.Lists)
}

// ofViews removes all but the states of the views, and returns the rest.
func ofViews(states cosmos.SessionTokens) cosmos.SessionTokens {
	maps.DeleteFunc(states, func(container string, _ cosmos.SessionToken) bool {
		return !slices.Contains(viewContainers, container)
	})
	return states
}

// viewContainers are the containers in which projections write.
var viewContainers = []string{schema.Users, schema.Feed, schema.Lists}

// restart moves the checkpoint to the beginning of a container that was deleted and recreated.
//
// If the container has other feed ranges now, restart leaves the checkpoint. The next balance
// replaces the lease by successors that start at the beginning. If the lease were read instead, it
// would return changes of other ranges too.
func (r *reader) restart(ctx context.Context, at changefeed.Lease) (stepResult, error) {
	current, err := readRangesAnew(ctx, r.feeds, at.Container)
	if err != nil {
		return idle, err
	}
	if !slices.Contains(current.ranges, at.Range) {
		if r.replaced {
			return idle, nil
		}
		r.replaced = true
		return more, nil // once, so that SettleForTests runs another balance
	}
	r.retrier.logger.Warn("container was recreated: reading its change feed from the beginning",
		"container", at.Container, "before", at.ResourceID, "now", current.resourceID)
	return more, r.held.advance(ctx, progress{history: at.History, resourceID: current.resourceID, changes: r.pageSize})
}
