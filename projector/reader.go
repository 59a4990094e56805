package projector

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

// reader reads and projects the changes of one lease's feed range.
type reader struct {
	feeds       *changefeed.Feeds
	held        *heldLease
	projections []Projection
	pageSize    int
	parallel    int
	retrier     retrier
	now         func() time.Time
	replaced    bool // whether the next balance will replace the lease by its successors

	beyondEndSince time.Time // when the first of the latest pages was beyond the end; zero if the last was not
}

// step reads and projects one page, and then advances the checkpoint.
func (r *reader) step(ctx context.Context) (stepResult, error) {
	ctx = cosmos.WithSession(ctx) // later reads return the changes of the page, and our own writes
	at, begun := r.held.current(), r.now()
	page, err := r.feeds.Changes(ctx, at.Container, at.Range, at.Continuation, r.pageSize)
	switch {
	case errors.Is(err, changefeed.ErrContainerReplaced):
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
	case len(page.Changes) == 0 && changefeed.IsFromNow(at.Continuation):
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

// beginAtPresent stores the position of the present, from which a lease of a new history is read.
func (r *reader) beginAtPresent(ctx context.Context, at changefeed.Lease, page changefeed.ChangePage) (stepResult, error) {
	if changefeed.IsFromNow(page.Continuation) {
		return idle, errNoPosition
	}
	return more, r.held.advance(ctx, progress{history: at.History, resourceID: page.ResourceID, continuation: page.Continuation, changes: r.pageSize})
}

var errNoPosition = errors.New("projector: the account does not report the position of the present")

// beyondEnd ends the history if a page of the feed is beyond its end, and if that shows that the
// database went back, or has lasted for too long. It must notice at once if it can: a failover may
// lose so few writes that the feed soon passes the position.
func (r *reader) beyondEnd(ctx context.Context, at changefeed.Lease, page changefeed.ChangePage) (stepResult, error) {
	partition, err := r.feeds.Partition(ctx, at.Container, at.Range)
	hasLost := false
	if err == nil && partition != "" {
		hasLost, err = r.feeds.HasLost(ctx, at.Container, partition, page)
	}
	if err != nil {
		return idle, err
	}
	now := r.now()
	if r.beyondEndSince.IsZero() {
		r.beyondEndSince = now
	}
	if !mayEnd(at, page) || !hasLost && now.Sub(r.beyondEndSince) < changefeed.BeyondEndLimit {
		return idle, nil
	}
	return r.endHistory(ctx, at, "the container "+at.Container+" was reset to an earlier state")
}

// mayEnd reports whether the history of a lease has lasted for historiesApart. So if an account's
// numbers ever mean something else, the views are not rebuilt without end.
func mayEnd(at changefeed.Lease, page changefeed.ChangePage) bool {
	return page.AsOf.Time().Sub(changefeed.History{Name: at.History}.Began()) >= historiesApart
}

const historiesApart = 10 * time.Minute

// wentBack returns a view in which the first writes of a step have produced a state before one that
// the lease knows, or "". A write is executed on the latest state, so the view has lost states.
func wentBack(at changefeed.Lease, first cosmos.SessionTokens) string {
	before, err := cosmos.ParseSessionTokens(at.Views)
	if err != nil {
		return ""
	}
	for view, token := range first {
		if token.WentBack(before[view]) {
			return view
		}
	}
	return ""
}

// endHistory ends the history of the lease, unless another process has done so, and begins again.
func (r *reader) endHistory(ctx context.Context, at changefeed.Lease, reason string) (stepResult, error) {
	present, err := r.feeds.EndHistory(ctx, at.History, reason)
	if err != nil {
		return idle, err
	}
	r.beyondEndSince = time.Time{}
	r.retrier.logger.Error("the database went back to an earlier state: the views are rebuilt, and may lack changes until then",
		"reason", reason, "lease", at.ID, "continuation", at.Continuation, "history", present.Name)
	r.held.follow(present)
	return more, nil
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

// portions divides a page into parts with at most maxUnfinished changes that need a Finisher, which
// runs after each part.
func (r *reader) portions(changes []changefeed.Change) (portions [][]changefeed.Change) {
	begin := 0
	for end, n := 1, 0; end < len(changes); end++ {
		if anyFinishes(r.projections, changes[end-1]) {
			n++
		}
		if n == maxUnfinished {
			portions = append(portions, changes[begin:end])
			begin, n = end, 0
		}
	}
	return append(portions, changes[begin:])
}

// maxUnfinished is the number of deleted posts after which the feed is refilled. After a refill,
// the feed has enough copies for that many deletions.
const maxUnfinished = views.FeedMargin

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

// project projects changes concurrently, first in groups and then one by one what is left. Then it
// runs the Finishers. The changes must be of different items.
func (r *reader) project(ctx context.Context, changes []changefeed.Change) error {
	projected, err := r.projectGroups(ctx, changes)
	if err != nil {
		return err
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(r.parallel)
	for _, change := range changes {
		if change.Err != nil || anyHandles(r.projections, change) {
			group.Go(func() error { return r.projectOne(groupCtx, change, projected) })
		}
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return r.finish(ctx, changes)
}

// finish runs each Finisher whose step is needed after any of the changes. If the step fails
// because of an item, the first of these changes is set aside.
func (r *reader) finish(ctx context.Context, changes []changefeed.Change) error {
	for _, projection := range r.projections {
		finisher, ok := projection.(Finisher)
		if !ok {
			continue
		}
		i := slices.IndexFunc(changes, finisher.Finishes)
		if i < 0 {
			continue
		}
		_, err := r.retrier.do(ctx, projection, changes[i], func() error { return finisher.Finish(ctx) })
		if err != nil {
			return err
		}
	}
	return nil
}

// projectionOf is a change of an item in one projection.
type projectionOf struct {
	projection   string
	partitionKey string
	id           string
}

// projectGroups projects the changes of each Grouping of which a page has several, and returns
// those that are projected.
func (r *reader) projectGroups(
	ctx context.Context, changes []changefeed.Change,
) (map[projectionOf]bool, error) {
	var mu sync.Mutex // guards all
	all := make(map[projectionOf]bool)
	workers, groupCtx := errgroup.WithContext(ctx)
	workers.SetLimit(r.parallel)
	for _, p := range slices.Backward(r.projections) { // the group of the feed takes longest
		grouping, ok := p.(Grouping)
		if !ok {
			continue
		}
		for _, group := range groupsOf(p, grouping, changes) {
			workers.Go(func() error {
				ids, err := grouping.ProjectGroup(groupCtx, group)
				r.retrier.counts.of(group[0].Container, p.Name()).projected.Add(int64(len(ids)))
				mu.Lock()
				defer mu.Unlock()
				for _, change := range group {
					if slices.Contains(ids, change.ID) {
						all[projectionOf{p.Name(), change.PartitionKey, change.ID}] = true
					}
				}
				return err
			})
		}
	}
	err := workers.Wait()
	return all, err
}

// groupsOf returns the groups that have several of the changes.
func groupsOf(p Projection, grouping Grouping, changes []changefeed.Change) (groups [][]changefeed.Change) {
	byName := make(map[string][]changefeed.Change)
	for _, change := range changes {
		if change.Err == nil && p.Handles(change) {
			name := grouping.Group(change)
			byName[name] = append(byName[name], change)
		}
	}
	for name, group := range byName {
		if name != "" && len(group) > 1 {
			groups = append(groups, group)
		}
	}
	return groups
}

// projectOne projects one change into the projections that have not projected it yet. A change that
// cannot be decoded is set aside without a retry.
func (r *reader) projectOne(
	ctx context.Context, change changefeed.Change, projected map[projectionOf]bool,
) error {
	if change.Err != nil {
		return r.retrier.setAside(ctx, "", change, 1, change.Err)
	}
	return inOrder(r.projections, change, func(p Projection) (bool, error) {
		if projected[projectionOf{p.Name(), change.PartitionKey, change.ID}] {
			return true, nil
		}
		done, err := r.retrier.do(ctx, p, change, func() error { return p.Project(ctx, change) })
		if done {
			r.retrier.counts.of(change.Container, p.Name()).projected.Add(1)
		}
		return done, err
	})
}

// latest returns the last change of each item, in the order of the page. The service lists an
// item once in a page, but latest does not rely on that.
func latest(changes []changefeed.Change) []changefeed.Change {
	seen := make(map[[2]string]bool, len(changes))
	kept := make([]changefeed.Change, 0, len(changes))
	for _, change := range slices.Backward(changes) {
		item := [2]string{change.PartitionKey, change.ID}
		if change.ID != "" && seen[item] {
			continue
		}
		seen[item] = true
		kept = append(kept, change)
	}
	slices.Reverse(kept)
	return kept
}
