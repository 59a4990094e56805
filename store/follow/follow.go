// Package follow reads the change feeds of an account's containers to their ends. It knows
// continuations and their positions, feed ranges that are split, replicas that lag behind, and
// containers that went back to an earlier state. It knows nothing of what the items are.
package follow

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"
)

// Position is a place in the change feed of a feed range, or among all items of a container. It can
// be stored, and another Follow goes on from it.
type Position struct {
	Feed
	Continuation string `json:"continuation,omitempty"` // empty at the beginning
	// Since says how old deletions may be that were not read: whoever has read up to the position has
	// missed none before it, by the clock Follower.Now. At the beginning of a feed, it is the time at
	// which the reading began. If it is longer ago than deleted items are kept, a reader must begin
	// again.
	Since time.Time `json:"since,omitzero"`
	// Done and Total are the LSN of the last change before the position, and that of the feed's last
	// one. Among all items of a container, Done is their number before the position, and Total is 0.
	Done  int64 `json:"done,omitempty"`
	Total int64 `json:"total,omitempty"`
}

// Progress has the sums of Done and of Total over positions. Total is 0 if all items of containers
// are read, whose number nobody knows.
type Progress struct{ Done, Total int64 }

// ProgressOf returns the progress at positions. If some of them are in feeds, it is theirs alone.
func ProgressOf(positions []Position) Progress {
	var inFeeds, amongItems Progress
	for _, p := range positions {
		if p.IsAllItems() {
			amongItems.Done += p.Done
			continue
		}
		inFeeds.Done += p.Done
		inFeeds.Total += max(p.Done, p.Total)
	}
	if inFeeds.Total > 0 {
		return inFeeds
	}
	return amongItems
}

// BeyondEndLimit is the time for which a position must stay beyond the end of its feed until that
// counts as the loss of changes. For a shorter time, replicas that lag behind may answer. All
// requests go to the region that writes, so a lag between regions does not look like that.
const BeyondEndLimit = time.Minute

// definiteError is an error that another try does not change.
type definiteError string

func (e definiteError) Error() string { return string(e) }

// IsDefinite says that a request with this error must not be repeated.
func (definiteError) IsDefinite() {}

// ErrWentBack reports that a container went back to an earlier state, in which a position means
// nothing.
const ErrWentBack = definiteError("follow: the database went back to an earlier state")

// ErrContainerReplaced reports that a continuation belongs to a deleted container. A new container
// with the same name has its own change feed.
const ErrContainerReplaced = definiteError("follow: the container was deleted and created again since its change feed was read")

// Follower reads change feeds. All fields are required. It may be used concurrently.
type Follower struct {
	// Read reads a page of at most about limit items from a continuation. Errors:
	// ErrContainerReplaced; others end Follow.
	Read     func(ctx context.Context, feed Feed, continuation string, limit int) (Page, error)
	PageSize int
	Now      func() time.Time // not later than the clock of the database
	Sleep    func(ctx context.Context, d time.Duration) error
}

// Step is a page of a feed, and the positions of all feeds behind it. Whoever has processed the
// page stores the positions, which Follow does not change any more.
type Step struct {
	Feed Feed
	Page
	Positions []Position
}

// rounds is the number of times that Follow reads all feeds to their ends. The second round has the
// changes made during the first. There is no third, because a database in use always has further
// changes.
const rounds = 2

// Follow reads feeds from positions, one after the other, to the ends that they have when it comes
// to them, and then once more, for the changes made since. So it ends even if the containers are
// constantly written. It reads all items of a container once. Each step has a page, which may have
// no items. If a feed range was split, each part goes on as a feed of its own.
//
// The last step may have an error, and nothing else: ErrWentBack if a position stays beyond the end
// of its feed for BeyondEndLimit; those of Read and Sleep.
func (f Follower) Follow(ctx context.Context, from []Position) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		w := walk{f, slices.Clone(from), yield}
		if err := w.run(ctx); err != nil && !errors.Is(err, errStopped) {
			yield(Step{}, err)
		}
	}
}

// errStopped reports that the loop over the steps has ended.
var errStopped = errors.New("follow: the loop has ended")

// walk is one execution of Follow.
type walk struct {
	Follower
	positions []Position
	yield     func(Step, error) bool
}

func (w *walk) run(ctx context.Context) error {
	for round := range rounds {
		for i := 0; i < len(w.positions); i++ { // a split adds positions
			if round > 0 && w.positions[i].IsAllItems() {
				continue
			}
			if err := w.toEnd(ctx, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// toEnd reads the feed of a position to the end that it had when its first page was read. If the
// feed range was split, it does so for the first part: numbers of different parts cannot be
// compared, and the other parts have positions of their own.
func (w *walk) toEnd(ctx context.Context, i int) error {
	for end := int64(-1); end < 0 || w.positions[i].Done < end; {
		at, asked := w.positions[i], w.Now()
		page, err := w.ReadPage(ctx, at, w.PageSize)
		if err != nil {
			return err
		}
		next, err := at.behind(page, asked)
		if err != nil {
			return err
		}
		w.positions = slices.Replace(w.positions, i, i+1, next...)
		if !w.yield(Step{at.Feed, page, slices.Clone(w.positions)}, nil) {
			return errStopped
		}
		switch {
		case len(next) > 1:
			end = -1
		case page.IsLast, len(page.Items) == 0 && !at.IsAllItems():
			return nil
		case end < 0 && !at.IsAllItems():
			end = goal(next[0].Done, page.End)
		}
	}
	return nil
}

// behind returns the position behind a page that was asked for at a time. If the feed range was
// split, it returns one for each part.
func (p Position) behind(page Page, asked time.Time) ([]Position, error) {
	p.Continuation = page.Continuation
	if p.IsAllItems() {
		p.Done += int64(len(page.Items))
		return []Position{p}, nil
	}
	if parts, err := p.Parts(); err != nil || len(parts) > 1 {
		return parts, err // only one part was read up to any time
	}
	_, isAtEnd := page.Reached()
	if isAtEnd || len(page.Items) == 0 {
		p.Since = asked
	}
	if len(page.Items) == 0 { // the last LSNs may be those of deleted items
		p.Done = max(p.Done, p.Total)
		return []Position{p}, nil
	}
	// A change that cannot be decoded has no LSN. The reader then goes on until a page is empty.
	last, _ := ChangeOf(page.Items[len(page.Items)-1])
	p.Done, p.Total = last.LSN, max(p.Total, page.End)
	if at := last.Time(); !isAtEnd && at.After(p.Since) && at.Before(asked) {
		p.Since = at
	}
	return []Position{p}, nil
}

// Parts returns a position in each part of a feed range, if it was split, and otherwise the
// position itself. Error: the continuation is malformed.
func (p Position) Parts() ([]Position, error) {
	ranges := ContinuationRanges(p.Continuation)
	if len(ranges) < 2 {
		return []Position{p}, nil
	}
	parts := make([]Position, len(ranges))
	for i, r := range ranges {
		continuation, err := NarrowContinuation(p.Continuation, r)
		if err != nil {
			return nil, err
		}
		parts[i] = Position{Feed: Feed{p.Container, r}, Continuation: continuation, Since: p.Since}
	}
	return parts, nil
}

// ReadPage reads a page at a position. If that is beyond the end of its feed, ReadPage reads it
// again once a second: a replica that lags catches up. Errors: ErrWentBack if that takes
// BeyondEndLimit; those of Read and Sleep.
func (f Follower) ReadPage(ctx context.Context, at Position, limit int) (Page, error) {
	page, err := f.Read(ctx, at.Feed, at.Continuation, limit)
	for begun := f.Now(); err == nil && page.IsBeyondEnd(); {
		if f.Now().Sub(begun) >= BeyondEndLimit {
			return page, ErrWentBack
		}
		if err = f.Sleep(ctx, time.Second); err == nil {
			page, err = f.Read(ctx, at.Feed, at.Continuation, limit)
		}
	}
	return page, err
}

// Measure returns positions with their Done and Total, so that the first progress has the whole
// total. It reads one change of each feed. A position that means nothing any more stays as it is,
// which Follow notices. Errors: the others of Read.
func (f Follower) Measure(ctx context.Context, positions []Position) ([]Position, error) {
	measured := slices.Clone(positions)
	for i, p := range measured {
		if p.IsAllItems() {
			continue
		}
		page, err := f.Read(ctx, p.Feed, p.Continuation, 1)
		if err != nil && !errors.Is(err, ErrContainerReplaced) {
			return nil, err
		}
		if len(page.Items) > 0 {
			next, _ := ChangeOf(page.Items[0])
			measured[i].Done, measured[i].Total = max(0, next.LSN-1), max(0, page.End)
		}
	}
	return measured, nil
}
