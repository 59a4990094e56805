package store

import (
	"context"
	"errors"
	"slices"
	"time"

	"cosmosblog/internal/blog"
)

// Rebuilding makes all views anew from the beginning of the change feeds, while the old ones serve: each partition that the
// feeds name is held to what its source says, what is right stays as it is, and all else is written anew, whatever revision it
// bears. It may run at any time beside servers and projectors: it writes under the guards by which audit --repair writes.
//
// First the feed, which everybody sees. Then posts: their copies, whatever was deleted of them, their counters, and the
// usernames on all that is in their partitions, of which those that no sweep is about to change are made their users'. Then users: the copies that have no
// source are removed, which the posts could not tell of, and what is left is counted. Then the reservations of usernames.
// Last, the feed again.
//
// Unlike an audit it waits for no projector, does at once what a projector would do, and goes on where it was broken off.
type Rebuilding struct {
	Store *Store
	// FromStart begins at the beginning, also where an earlier rebuild was broken off.
	FromStart bool
	// Parallel is how many partitions are rebuilt at a time; 8 where 0.
	Parallel int
	// PageSize is how many changes are read at a time, and repeated at most where the rebuild was broken off; 1000 where 0.
	PageSize int
	// Left is told of what could not be made right, from one goroutine at a time. It may be nil.
	Left func(Drift)
	// Progress is told how far the rebuild is, from one goroutine at a time. It may be nil.
	Progress func(AuditProgress)
	// Sleep waits before what differs is looked at again; a timer where nil.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Rebuilt says what a rebuild did; of one that went on where another was broken off, since then.
type Rebuilt struct {
	Posts, Users, Usernames int64         // that were looked at
	Differed                int64         // of these and the feed: in which something was not as it should be
	Left                    int64         // drifts that could not be made right
	Restless                int64         // partitions of which nothing can be said, as in Audited
	Since                   blog.DateTime // when the rebuild began that was broken off; empty where none was
}

// Run rebuilds the views once. A throttled request is waited for. Error: ErrRebuildTaken, or the first that the database gives;
// another Run goes on from there.
func (r *Rebuilding) Run(ctx context.Context) (Rebuilt, error) {
	run := &rebuildRun{auditRun: (&Auditing{
		Store:    r.Store,
		Repair:   true,
		Parallel: r.Parallel,
		PageSize: r.PageSize,
		Progress: r.Progress,
		Sleep:    r.Sleep,
		Found: func(d Drift, mended bool) {
			if !mended && r.Left != nil {
				r.Left(d)
			}
		},
	}).begin()}
	err := run.all(ctx, r.FromStart)
	return run.result(), err
}

// rebuildRun is one run of a Rebuilding: an audit that does not wait.
type rebuildRun struct {
	*auditRun
	checkpoint *rebuildCheckpoint
	differed   int64 // guarded by mu, as what is doubtful
}

func (r *rebuildRun) result() Rebuilt {
	a := r.audited
	rebuilt := Rebuilt{Posts: a.Posts, Users: a.Users, Usernames: a.Usernames, Differed: r.differed, Left: a.Drifts - a.Mended, Restless: a.Restless}
	if r.checkpoint != nil && r.checkpoint.goesOn {
		rebuilt.Since = r.checkpoint.item.Begun
	}
	return rebuilt
}

func (r *rebuildRun) all(ctx context.Context, fromStart bool) (err error) {
	if r.checkpoint, err = r.Store.openRebuildCheckpoint(ctx, fromStart); err != nil {
		return err
	}
	if err := r.measure(ctx); err != nil {
		return err
	}
	theFeed := []subject{{feedContainer, feedPartition}}
	if err := r.anew(ctx, theFeed); err != nil {
		return err
	}
	for _, container := range auditedContainers {
		if err := r.container(ctx, container); err != nil {
			return err
		}
	}
	if err := r.anew(ctx, theFeed); err != nil {
		return err
	}
	return r.checkpoint.remove(ctx)
}

// measure looks how far the feeds go, and how far an earlier run came.
func (r *rebuildRun) measure(ctx context.Context) error {
	if err := r.auditRun.measure(ctx); err != nil {
		return err
	}
	for of, end := range r.scanned {
		r.scanned[of] = feedEnd{r.checkpoint.of(of).Done, end.total}
	}
	r.tell()
	return nil
}

// container rebuilds all partitions that the feeds of a container name. Where that was made anew meanwhile, it begins at its
// beginning.
func (r *rebuildRun) container(ctx context.Context, container string) error {
	begin := func(of feed) string { return r.checkpoint.of(of).Continuation }
	page := func(page itemPage, of feed, subjects []subject) error {
		if err := r.anew(ctx, subjects); err != nil {
			return err
		}
		return r.checkpoint.advance(ctx, of, rebuildPosition{page.continuation, endOf(page).done})
	}
	err := r.follow(ctx, container, begin, page)
	if errors.Is(err, ErrContainerReplaced) && r.checkpoint.forget(container) {
		err = r.follow(ctx, container, begin, page)
	}
	return err
}

// anew makes partitions of one container what they should be. Beside what a projector would do, only that is written which differs
// twice, some time apart, with the same source: the rest is in somebody's hands, or was read where not all was known yet.
func (r *rebuildRun) anew(ctx context.Context, subjects []subject) error {
	if err := r.lookAt(ctx, subjects); err != nil {
		return err
	}
	doubts := r.doubtful
	r.doubtful = nil
	for look := 0; look < maxLooks && len(doubts) > 0; look++ {
		if r.Sleep(ctx, lookInterval) != nil {
			return context.Cause(ctx)
		}
		if err := r.lookAgain(ctx, subjects[0].container, doubts); err != nil {
			return err
		}
		doubts = slices.DeleteFunc(doubts, func(d doubt) bool { return len(d.seen) == 0 })
	}
	r.audited.Restless += int64(len(doubts))
	return nil
}

// lookAt takes the first look at some partitions, does what a projector would do where something differs, and keeps those in which
// that was not enough.
func (r *rebuildRun) lookAt(ctx context.Context, subjects []subject) error {
	return r.each(ctx, len(subjects), func(ctx context.Context, i int) error {
		s := subjects[i]
		drifts, err := r.look(ctx, r.remember, s)
		if err == nil && len(drifts) > 0 {
			drifts, err = r.look(ctx, look{Store: r.Store}, s)
		}
		if err != nil || len(drifts) == 0 {
			return err
		}
		if s.container == postsContainer {
			drifts, err = r.project(ctx, s)
		}
		r.keep(s, drifts)
		return err
	})
}

// keep counts a partition in which something differed, and keeps what still does.
func (r *rebuildRun) keep(s subject, drifts []Drift) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.differed++
	if len(drifts) > 0 {
		r.doubtful = append(r.doubtful, newDoubt(s, drifts))
	}
}

// project does at a partition of posts what a projector would do, and gives what differs still: what an item does not let be
// done, a repair may.
func (r *rebuildRun) project(ctx context.Context, s subject) ([]Drift, error) {
	err := r.Store.persist(ctx, func() error { return r.Store.RepairPost(WithSession(ctx), s.partition) })
	if err != nil && !ConcernsItem(err) {
		return nil, err
	}
	return r.look(ctx, look{Store: r.Store}, s)
}
