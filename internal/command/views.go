package command

import (
	"context"
	"fmt"
	"io"
	"math"
	"time"

	"cosmosblog/projector"
	"cosmosblog/store"
)

// settleInterval is the time between two looks at whether all views are made. A projector writes its checkpoints at
// least as often as it renews its leases.
const (
	settleInterval = 200 * time.Millisecond
	settleRenew    = time.Second

	settlePage = 1000 // changes, of which few lead to anything: comments and likes are only passed over
)

// makeViews runs a projector until the views follow all that is there when it begins, and tells what it waits for.
// Others may be at work too: they share the projector's work, and what they write meanwhile is not waited for.
func makeViews(ctx context.Context, task Task, database *Database) error {
	p, err := projector.New(settleOptions(database, task))
	if err != nil {
		return err
	}
	ctx, stop := Start(ctx, "projector", p.Run)
	defer stop()
	return (&settling{database.Store, task.Stderr, time.Now}).all(ctx)
}

// settleOptions hurries, but for the time that commands have: others may use a data folder through the process that owns
// it, and so may have read an older username.
func settleOptions(database *Database, task Task) projector.Options {
	options := projectorOptions(database, task)
	options.Temporary = true
	options.Renew = settleRenew
	options.PageSize = settlePage
	return options
}

// settling waits for the projectors of a database, whichever they are.
type settling struct {
	store *store.Store
	to    io.Writer // told every lineInterval what is waited for
	now   func() time.Time
}

// all waits until what is in the feeds now is projected, then until the sweeps, deletions and purges are done that are
// recorded by then, and last until what these wrote is projected.
func (s *settling) all(ctx context.Context) error {
	if err := s.feeds(ctx); err != nil {
		return err
	}
	recorded, err := s.recorded(ctx)
	if err != nil || len(recorded) == 0 {
		return err
	}
	if err := s.chores(ctx, recorded); err != nil {
		return err
	}
	return s.feeds(ctx)
}

// until looks every settleInterval how much is left, until nothing is.
func (s *settling) until(ctx context.Context, what string, left func() (int, error)) error {
	for told := s.now(); ; {
		n, err := left()
		if n == 0 || err != nil {
			return err
		}
		if now := s.now(); now.Sub(told) >= lineInterval {
			told = now
			fmt.Fprintf(s.to, "making the views: %d %s left\n", n, what)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(settleInterval):
		}
	}
}

// feeds waits until every checkpoint has passed the end that its feed has now.
func (s *settling) feeds(ctx context.Context) error {
	ends, err := s.store.FeedEnds(ctx)
	if err != nil {
		return err
	}
	return s.until(ctx, "change feeds", func() (int, error) { return s.store.Behind(ctx, ends) })
}

// work is a sweep, a deletion or a purge, from when it is recorded until it is done or a later one takes its place.
type work struct {
	chore    string
	id       string // of the user or post
	revision int64
}

// stuckLooks is after how many looks at which nothing of the work was done nobody waits any more where there are dead letters: what
// one of them leaves undone may be what a deletion waits for, and only somebody who retries it ends that. It is three times as long as
// lies between two passes of a deletion.
const stuckLooks = int(45 * time.Second / settleInterval)

// chores waits until none of the work is left, or what is left may wait for somebody to retry a dead letter.
func (s *settling) chores(ctx context.Context, recorded map[work]bool) error {
	before, looks := 0, 0
	return s.until(ctx, "renames and deletions", func() (n int, err error) {
		now, err := s.recorded(ctx)
		for w := range now {
			if recorded[w] {
				n++
			}
		}
		if looks++; n != before {
			before, looks = n, 0
		}
		if n == 0 || err != nil || looks < stuckLooks {
			return n, err
		}
		looks = 0
		letters, err := s.store.CountDeadLetters(ctx)
		if letters == 0 || err != nil {
			return n, err
		}
		fmt.Fprintf(s.to, "%d renames and deletions are not waited for any longer: there are dead letters, which deadletters lists\n", n)
		return 0, nil
	})
}

// recorded gives all work that is recorded and not done.
func (s *settling) recorded(ctx context.Context) (map[work]bool, error) {
	sweeps, err := s.store.Sweeps(ctx)
	if err != nil {
		return nil, err
	}
	deletions, err := s.store.Deletions(ctx)
	if err != nil {
		return nil, err
	}
	purges, err := s.store.Purges(ctx, math.MaxInt)
	recorded := map[work]bool{}
	for _, sweep := range sweeps {
		recorded[work{"sweep", sweep.UserID, sweep.AuthorRevision}] = true
	}
	for _, deletion := range deletions {
		recorded[work{"deletion", deletion.UserID, deletion.Revision}] = true
	}
	for _, purge := range purges {
		recorded[work{chore: "purge", id: purge.PostID}] = true
	}
	return recorded, err
}
