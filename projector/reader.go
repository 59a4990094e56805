package projector

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"cosmosblog/internal/blog"
	"cosmosblog/store"
)

// reader reads the changes of one lease and has them projected.
type reader struct {
	store       *store.Store
	held        *heldLease
	projections []Projection
	pageSize    int
	parallel    int
	now         func() time.Time
	sleep       func(ctx context.Context, d time.Duration) error
	logger      *slog.Logger
	progress    progress
}

// step reads one page and projects it, then moves the checkpoint. It tells whether there was anything new.
func (r *reader) step(ctx context.Context) (bool, error) {
	at := r.held.position()
	page, err := r.store.Changes(ctx, at.Container, at.Range, at.Continuation, r.pageSize)
	switch {
	case errors.Is(err, store.ErrContainerReplaced):
		return true, r.restart(ctx, at)
	case err != nil:
		return false, err
	case len(page.Changes) == 0:
		r.progress.caughtUp()
		return false, nil
	}
	r.progress.behind(page.Changes)
	if err := r.project(ctx, latest(page.Changes)); err != nil {
		return false, err
	}
	return true, r.held.advance(ctx, page.ResourceID, page.Continuation, len(page.Changes))
}

// restart begins at the beginning of a container that was made anew.
func (r *reader) restart(ctx context.Context, at store.Lease) error {
	resourceID, err := r.store.ResourceID(ctx, at.Container)
	if err != nil {
		return err
	}
	r.logger.Warn("the container was made anew: its changes are read from the beginning",
		"container", at.Container, "before", at.ResourceID, "now", resourceID)
	return r.held.advance(ctx, resourceID, "", r.pageSize)
}

// project projects the changes of a page, those of different items beside one another.
func (r *reader) project(ctx context.Context, changes []store.Change) error {
	ctx = store.WithSession(ctx) // what was written before is seen when it is read again
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(r.parallel)
	for _, change := range changes {
		if r.wants(change) {
			group.Go(func() error { return r.try(groupCtx, change) })
		}
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return r.finish(ctx, changes)
}

func (r *reader) wants(change store.Change) bool {
	if change.Err != nil {
		return true
	}
	for _, projection := range r.projections {
		if projection.Wants(change) {
			return true
		}
	}
	return false
}

func (r *reader) finish(ctx context.Context, changes []store.Change) error {
	for _, projection := range r.projections {
		finisher, ok := projection.(Finisher)
		if !ok {
			continue
		}
		if err := finisher.Finish(ctx, changes); err != nil {
			return err
		}
	}
	return nil
}

// refusals is how often a change is tried that the database refuses, and refusalDelay what is waited after the first
// time; then twice that, and so on.
const (
	refusals     = 5
	refusalDelay = 50 * time.Millisecond
)

// try projects a change, and sets it aside where the database refuses it time and again. Where something else is wrong,
// it gives the error: then the page is not done, and is read again later, as often as it takes.
func (r *reader) try(ctx context.Context, change store.Change) error {
	delay := refusalDelay
	for n := 1; ; n++ {
		name, err := r.projectOne(ctx, change)
		if err == nil || !store.Refused(err) {
			return err
		}
		if n == refusals {
			return r.setAside(ctx, name, change, err)
		}
		if err := r.sleep(ctx, delay); err != nil {
			return err
		}
		delay *= 2
	}
}

// projectOne hands a change to all projections that want it, in order, and names the one that failed.
func (r *reader) projectOne(ctx context.Context, change store.Change) (string, error) {
	if change.Err != nil {
		return "", change.Err
	}
	for _, projection := range r.projections {
		if !projection.Wants(change) {
			continue
		}
		if err := projection.Project(ctx, change); err != nil {
			return projection.Name(), err
		}
	}
	return "", nil
}

func (r *reader) setAside(ctx context.Context, projection string, change store.Change, reason error) error {
	r.logger.Error("a change could not be projected and was set aside", "projection", projection,
		"container", change.Container, "partitionKey", change.PartitionKey, "id", change.ID, "error", reason)
	return r.store.SetAside(ctx, store.DeadLetter{
		Projection:   projection,
		Container:    change.Container,
		PartitionKey: change.PartitionKey,
		ItemID:       change.ID,
		Reason:       reason.Error(),
		Date:         blog.NewDateTime(r.now()),
	})
}

// latest gives each item's last change, in the order of the page. A feed shows an item once in a page; this holds also
// where it does not.
func latest(changes []store.Change) []store.Change {
	seen := make(map[[2]string]bool, len(changes))
	kept := make([]store.Change, 0, len(changes))
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
