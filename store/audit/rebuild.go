package audit

import (
	"context"
	"errors"
	"slices"
	"time"

	"cosmosblog/internal/blog"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// RebuildOptions say how a rebuild runs. The zero value works.
type RebuildOptions struct {
	// FromStart begins at the beginning, even if an earlier rebuild was interrupted.
	FromStart bool
	// Parallel is how many partitions are rebuilt at a time; 8 if 0.
	Parallel int
	// PageSize is how many changes are read at a time, and how many at most are repeated after an
	// interruption; 1000 if 0.
	PageSize int
	// Left is called for each drift that could not be corrected. May be nil. One call at a time.
	Left func(Drift)
	// Progress is called with how far the rebuild is. May be nil. One call at a time.
	Progress func(Progress)
	// Sleep waits before a partition that differs is compared again; a timer if nil.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Rebuilt says what a rebuild did. If it resumed an interrupted one, it says what was done since then.
type Rebuilt struct {
	Posts, Users, Usernames int64         // that were compared
	Differed                int64         // of these and the feed: partitions in which something was wrong
	Left                    int64         // drifts that could not be corrected
	Unstable                int64         // partitions that could not be compared, as in Result
	Since                   blog.DateTime // when the interrupted rebuild began; empty if there was none
}

// Rebuild rebuilds all views from the beginning of the change feeds while the present ones serve. Each
// partition that the feeds name is compared with its source. What is right stays as it is; everything
// else is written again, whatever revision it has. Rebuild may run at any time beside servers and
// projectors: its writes have the guards of a repair. It waits if the account throttles it. Unlike Run
// it waits for no projector, does at once what a projector would do, and resumes where it was
// interrupted. Errors: ErrRebuildTaken, or the first of the database.
//
// The order: the feed, which everybody sees. Then posts: their copies, their deletions, their
// counters, and the usernames in their partitions that no pending sweep will change. Then users: the
// copies without a source are deleted, and the rest is counted. Then the reservations of usernames.
// Last, the feed again.
func Rebuild(ctx context.Context, db *cosmos.DB, options RebuildOptions) (Rebuilt, error) {
	run := &rebuildRun{audit: begin(db, Options{
		Repair:   true,
		Parallel: options.Parallel,
		PageSize: options.PageSize,
		Progress: options.Progress,
		Sleep:    options.Sleep,
		Found: func(d Drift, corrected bool) {
			if !corrected && options.Left != nil {
				options.Left(d)
			}
		},
	})}
	err := run.all(ctx, options.FromStart)
	return run.result(), err
}

// rebuildRun is one run of a rebuild: the comparisons and repairs of an audit, without its waits.
type rebuildRun struct {
	audit      *auditRun
	checkpoint *rebuildCheckpoint
	differed   int64 // guarded by mu, as what is doubtful
}

func (r *rebuildRun) result() Rebuilt {
	a := r.audit.result
	rebuilt := Rebuilt{Posts: a.Posts, Users: a.Users, Usernames: a.Usernames, Differed: r.differed, Left: a.Drifts - a.Corrected, Unstable: a.Unstable}
	if r.checkpoint != nil && r.checkpoint.goesOn {
		rebuilt.Since = r.checkpoint.item.Begun
	}
	return rebuilt
}

func (r *rebuildRun) all(ctx context.Context, fromStart bool) (err error) {
	if r.checkpoint, err = r.audit.database.openRebuildCheckpoint(ctx, fromStart); err != nil {
		return err
	}
	if err := r.measure(ctx); err != nil {
		return err
	}
	theFeed := []subject{{schema.Feed, schema.FeedPartition}}
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
	if err := r.audit.measure(ctx); err != nil {
		return err
	}
	for of, end := range r.audit.scanned {
		r.audit.scanned[of] = changefeed.Progress{Done: r.checkpoint.of(of).Done, Total: end.Total}
	}
	r.audit.tell()
	return nil
}

// container rebuilds all partitions that the feeds of a container name. Where that was made anew meanwhile, it begins at its
// beginning.
func (r *rebuildRun) container(ctx context.Context, container string) error {
	begin := func(of changefeed.Feed) string { return r.checkpoint.of(of).Continuation }
	page := func(page changefeed.Page, of changefeed.Feed, subjects []subject) error {
		if err := r.anew(ctx, subjects); err != nil {
			return err
		}
		return r.checkpoint.advance(ctx, of, rebuildPosition{page.Continuation, changefeed.ProgressOf(page).Done})
	}
	err := r.audit.follow(ctx, container, begin, page)
	if errors.Is(err, changefeed.ErrContainerReplaced) && r.checkpoint.forget(container) {
		err = r.audit.follow(ctx, container, begin, page)
	}
	return err
}

// anew makes partitions of one container what they should be. Beside what a projector would do, only that is written which differs
// twice, some time apart, with the same source: the rest is in somebody's hands, or was read where not all was known yet.
func (r *rebuildRun) anew(ctx context.Context, subjects []subject) error {
	if err := r.lookAt(ctx, subjects); err != nil {
		return err
	}
	doubts := r.audit.doubtful
	r.audit.doubtful = nil
	for look := 0; look < maxLooks && len(doubts) > 0; look++ {
		if r.audit.options.Sleep(ctx, lookInterval) != nil {
			return context.Cause(ctx)
		}
		if err := r.audit.lookAgain(ctx, subjects[0].container, doubts); err != nil {
			return err
		}
		doubts = slices.DeleteFunc(doubts, func(d doubt) bool { return len(d.seen) == 0 })
	}
	r.audit.result.Unstable += int64(len(doubts))
	return nil
}

// lookAt takes the first look at some partitions, does what a projector would do where something differs, and keeps those in which
// that was not enough.
func (r *rebuildRun) lookAt(ctx context.Context, subjects []subject) error {
	return r.audit.each(ctx, len(subjects), func(ctx context.Context, i int) error {
		s := subjects[i]
		drifts, err := r.audit.look(ctx, r.audit.remember, s)
		if err == nil && len(drifts) > 0 {
			drifts, err = r.audit.look(ctx, look{database: r.audit.database}, s)
		}
		if err != nil || len(drifts) == 0 {
			return err
		}
		if s.container == schema.Posts {
			drifts, err = r.project(ctx, s)
		}
		r.keep(s, drifts)
		return err
	})
}

// keep counts a partition in which something differed, and keeps what still does.
func (r *rebuildRun) keep(s subject, drifts []Drift) {
	r.audit.mu.Lock()
	defer r.audit.mu.Unlock()
	r.differed++
	if len(drifts) > 0 {
		r.audit.doubtful = append(r.audit.doubtful, newDoubt(s, drifts))
	}
}

// project does at a partition of posts what a projector would do, and gives what differs still: what an item does not let be
// done, a repair may.
func (r *rebuildRun) project(ctx context.Context, s subject) ([]Drift, error) {
	err := r.audit.db.RetryTransient(ctx, func() error { return r.audit.views.RepairPost(cosmos.WithSession(ctx), s.partition) })
	if err != nil && !cosmos.IsItemError(err) {
		return nil, err
	}
	return r.audit.look(ctx, look{database: r.audit.database}, s)
}
