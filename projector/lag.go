package projector

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"cosmosblog/store"
)

// Lag is how far the views are behind one feed range.
type Lag struct {
	Container string
	Range     store.FeedRange
	Held      bool   // a projector of this process has the lease
	Position  string // what it is behind: another whenever something was projected since
	store.FeedLag
}

// For gives for how long the oldest change is there that is not projected, 0 where there is none. It compares the
// account's clock with the one that now is from.
func (l Lag) For(now time.Time) time.Duration {
	if l.Since.IsZero() {
		return 0
	}
	return max(0, now.Sub(l.Since))
}

// Feeds gives the leases of the feed ranges that this projector works on, each with what it has projected, which may be
// ahead of the checkpoint. It may be called at any time, and sends nothing.
func (p *Projector) Feeds() []store.Lease {
	var feeds []store.Lease
	for _, w := range p.sorted() {
		if w.container != "" {
			feeds = append(feeds, w.held.position())
		}
	}
	return feeds
}

// Missing tells what the database lacks that this projector waits for; nil where it waits for nothing of the kind. It may
// be called at any time, and sends nothing.
func (p *Projector) Missing() *store.MissingError {
	for _, w := range p.sorted() {
		if missing := w.missing.Load(); missing != nil {
			return missing
		}
	}
	return nil
}

// Lags tells how far the views are behind, feed range by feed range, whoever projects them and also where nobody does.
// held are the feeds of the projectors in this process: of these it is known what they have projected; of others, the
// checkpoint, which follows after some seconds at most. It costs one request for each feed range, and a few more.
//
// Errors are those of all that failed; the lags of the other feed ranges are there.
func Lags(ctx context.Context, s *store.Store, held ...store.Lease) ([]Lag, error) {
	positions, failed := readPositions(ctx, s, held)
	l := lags{store: s, failed: []error{failed}}
	var group errgroup.Group
	group.SetLimit(parallelLags)
	for _, p := range positions {
		group.Go(func() error { l.look(ctx, p); return nil })
	}
	group.Wait()
	slices.SortFunc(l.found, func(a, b Lag) int {
		return cmp.Or(cmp.Compare(a.Container, b.Container), cmp.Compare(a.Range.Min, b.Range.Min), cmp.Compare(a.Range.Max, b.Range.Max))
	})
	return l.found, errors.Join(l.failed...)
}

// parallelLags is how many feed ranges are looked at beside one another.
const parallelLags = 8

// lags is one look at all of them.
type lags struct {
	store *store.Store

	mu     sync.Mutex // held while what follows is changed
	found  []Lag
	failed []error
}

func (l *lags) look(ctx context.Context, p position) {
	after, err := l.store.FeedLag(ctx, p.Container, p.Range, p.Continuation)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.failed = append(l.failed, fmt.Errorf("%s %s: %w", p.Container, p.Range, err))
		return
	}
	l.found = append(l.found, Lag{p.Container, p.Range, p.held, p.Continuation, after})
}

// position is how far a feed range is projected.
type position struct {
	store.Lease
	held bool
}

// readPositions gives those of all feed ranges, also of those whose lease no projector has made yet.
func readPositions(ctx context.Context, s *store.Store, held []store.Lease) (positions []position, failed error) {
	divisions, failed := readDivisions(ctx, s)
	leases, err := allFeeds(ctx, s, divisions)
	if err != nil {
		return nil, errors.Join(failed, err)
	}
	for _, lease := range leases {
		i := slices.IndexFunc(held, func(held store.Lease) bool { return held.ID == lease.ID })
		if i >= 0 {
			lease = held[i]
		}
		parts, err := partsOf(lease, divisions, leases)
		failed = errors.Join(failed, err)
		for _, part := range parts {
			positions = append(positions, position{part, i >= 0})
		}
	}
	return positions, failed
}

// allFeeds gives the leases of all feed ranges, also those that are missing. They are listed again before one is taken for
// missing: where a range was split meanwhile, neither the whole nor the parts may be seen the first time.
func allFeeds(ctx context.Context, s *store.Store, divisions []division) ([]store.Lease, error) {
	leases, err := s.Leases(ctx)
	if err == nil && slices.ContainsFunc(missingLeases(divisions, leases), isFeed) {
		leases, err = s.Leases(ctx)
	}
	leases = append(leases, missingLeases(divisions, leases)...)
	return slices.DeleteFunc(leases, func(lease store.Lease) bool { return !isFeed(lease) }), err
}

func isFeed(lease store.Lease) bool { return lease.Container != "" }

// partsOf gives the leases that are to take a lease's place where its range was split, but for those that are there; the
// lease itself where it was not.
func partsOf(lease store.Lease, divisions []division, leases []store.Lease) ([]store.Lease, error) {
	i := slices.IndexFunc(divisions, func(d division) bool { return d.container == lease.Container })
	if i < 0 {
		return []store.Lease{lease}, nil
	}
	parts, err := divisions[i].successors(lease)
	if err != nil || len(parts) == 0 {
		return []store.Lease{lease}, err
	}
	return slices.DeleteFunc(parts, func(part store.Lease) bool {
		return slices.ContainsFunc(leases, func(there store.Lease) bool { return there.ID == part.ID })
	}), nil
}
