// Package audit compares every view with its source, reports what drifts, and repairs it. It also
// rebuilds all views from the beginning of the change feeds.
package audit

import (
	"cmp"
	"context"
	"sync"

	"golang.org/x/sync/errgroup"

	"cosmosblog/store/cosmos"
	"cosmosblog/store/follow"
)

// Options configure an audit or a rebuild. The zero value works.
type Options struct {
	// Repair corrects each confirmed drift, and then compares the item again. Such an audit may be
	// interrupted and run again at any time. A rebuild always does so.
	Repair bool
	// FromStart ignores the checkpoint of an interrupted rebuild. An audit has none.
	FromStart bool
	// Parallel is the maximum number of partitions that are compared or rebuilt at a time; 8 if 0.
	Parallel int
	// PageSize is the number of changes in a page; 1000 if 0. A resumed rebuild repeats at most one
	// page.
	PageSize int
	// Found is called for each drift; corrected reports whether it was repaired. Calls are not
	// concurrent. May be nil.
	Found func(drift Drift, corrected bool)
	// Progress is called with the progress. Calls are not concurrent. May be nil.
	Progress func(follow.Progress)
}

// Result is the result of an audit.
type Result struct {
	Posts, Users, Usernames, Lists int64 // that were compared
	Drifts                         int64
	Corrected                      int64 // of the drifts
	// Unstable counts the partitions that could not be compared, because their source changed during
	// every comparison that found a difference.
	Unstable int64
	// Pending counts the sweeps, deletions and purges that were not done when the audit ended. The
	// differences that they will remove are not drifts, whether or not a projector is running.
	Pending int64
	// Stalled reports that the projectors stalled while the audit waited for them, or did not catch up
	// within an hour. In that case the changes that they have not projected are among the drifts.
	Stalled bool
}

const (
	defaultParallel = 8
	defaultPageSize = 1000
)

// Run compares every view of a database with its source, once, and returns its findings, even if
// it fails. It waits if the account throttles it. Error: the first error of the database.
//
// Differences that a projector has yet to remove are not drifts. If a view differs, Run waits
// until the projectors have passed the current ends of the change feeds, and compares again. A
// difference is a drift only if it is found twice while its source stays the same. Run writes
// nothing unless Repair is set. Repairs have the same guards as the projector's writes, so Run
// may run at any time alongside servers and projectors.
//
// The change feeds enumerate the existing items. If they may not show all (changefeed.History), a
// query of each container does. Each partition that they name is compared once, by one query and a
// few point reads. A filter across partitions would report no progress, and would not find the
// comments of a missing post. Memory holds some partitions at a time, the feed, and less than 100
// bytes for each post, user, username and entry of a list.
func Run(ctx context.Context, db *cosmos.DB, options Options) (Result, error) {
	run := newAuditRun(db, options)
	err := run.run(ctx)
	return run.result, err
}

type auditRun struct {
	*database
	options   Options
	byQuery   bool     // queries enumerate the items, and not the change feeds
	cached    comparer // for the first comparison of each target
	compared  hashSet  // the targets that were compared
	follower  follow.Follower
	positions []follow.Position // up to which all containers are read
	result    Result
	stalls    map[follow.Feed]stall

	mu       sync.Mutex // guards result and suspects during comparisons
	suspects []suspect
}

func newAuditRun(db *cosmos.DB, options Options) *auditRun {
	options.Parallel = cmp.Or(options.Parallel, defaultParallel)
	options.PageSize = cmp.Or(options.PageSize, defaultPageSize)
	database := open(db)
	return &auditRun{
		database: database,
		options:  options,
		cached:   comparer{database: database, caches: newCaches()},
		compared: newHashSet(),
		follower: database.feeds.Follower(options.PageSize),
		stalls:   map[follow.Feed]stall{},
	}
}

// run compares posts first: the comparison of users uses the set of existing posts.
func (a *auditRun) run(ctx context.Context) error {
	if _, err := a.readHistory(ctx); err != nil {
		return err
	}
	if err := a.begin(ctx, nil); err != nil {
		return err
	}
	for _, k := range kinds {
		if err := a.eachPage(ctx, k, a.compareAll, func(context.Context) error { return nil }); err != nil {
			return err
		}
	}
	if _, err := a.resolveSuspects(ctx, a.waitForProjectors); err != nil {
		return err
	}
	return a.countPending(ctx)
}

// compareAll compares targets for the first time, and those that differ again once there are
// maxSuspects.
func (a *auditRun) compareAll(ctx context.Context, targets []target) error {
	err := a.findSuspects(ctx, targets, nil)
	if err == nil && len(a.suspects) >= maxSuspects {
		_, err = a.resolveSuspects(ctx, a.waitForProjectors)
	}
	return err
}

// findSuspects compares targets for the first time, and collects those that differ. If again is not
// nil, it returns the drifts of a target that differs.
func (a *auditRun) findSuspects(
	ctx context.Context, targets []target, again func(context.Context, target) ([]Drift, error),
) error {
	return a.forEach(ctx, len(targets), func(ctx context.Context, i int) error {
		drifts, err := a.compare(ctx, a.cached, targets[i])
		if err == nil && len(drifts) > 0 && again != nil {
			drifts, err = again(ctx, targets[i])
		}
		if err == nil && len(drifts) > 0 {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.suspects = append(a.suspects, newSuspect(targets[i], drifts))
		}
		return err
	})
}

// compare returns the current drifts of a target. It waits if the account throttles it.
func (a *auditRun) compare(ctx context.Context, c comparer, t target) (drifts []Drift, err error) {
	err = a.db.RetryTransient(ctx, func() (err error) {
		// In a session, later reads are no older than earlier ones. Each try begins a new session,
		// because the replicas may have lost the previous one.
		if c.isFresh {
			c = newComparer(a.database)
		}
		drifts, err = c.compare(cosmos.WithSession(ctx), t)
		return err
	})
	if err != nil && cosmos.IsPermanent(err) {
		// An item that the comparison depends on has an invalid form.
		d := absentItem(t.container, cosmos.Address{Partition: t.partition, ID: t.partition}).unreadableDrift()
		d.Is, d.sourceState = err.Error(), err.Error()
		return []Drift{d}, nil
	}
	return drifts, err
}

// forEach calls f with each number below n, in up to Options.Parallel goroutines.
func (a *auditRun) forEach(
	ctx context.Context, n int, f func(ctx context.Context, i int) error,
) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(a.options.Parallel)
	for i := range n {
		group.Go(func() error { return f(ctx, i) })
	}
	return group.Wait()
}
