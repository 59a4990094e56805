// Package audit compares every view with its source, reports what drifts, and repairs it. It also
// rebuilds all views from the beginning of the change feeds.
package audit

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"golang.org/x/sync/errgroup"

	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// Options say what an audit does beside comparing. The zero value works.
type Options struct {
	// Repair corrects what drifts, and compares again whether that worked. It may be interrupted and
	// run again at any time.
	Repair bool
	// Parallel is how many partitions are compared at a time; 8 if 0.
	Parallel int
	// PageSize is how many changes are read at a time; 1000 if 0.
	PageSize int
	// Found is called for each drift, with whether it was corrected. May be nil. One call at a time.
	Found func(drift Drift, corrected bool)
	// Progress is called with how far the audit is. May be nil. One call at a time.
	Progress func(Progress)
	// Sleep waits before a partition that differs is compared again; a timer if nil.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Progress says how far an audit is. Done and Total are sums of positions in the change feeds. They
// count no items, but grow evenly with them.
type Progress struct{ Done, Total int64 }

// Result says what an audit found.
type Result struct {
	Posts, Users, Usernames int64 // that were compared
	Drifts                  int64
	Corrected               int64 // of the drifts
	// Unstable counts the partitions that could not be compared: whenever something differed there, the
	// source had changed meanwhile.
	Unstable int64
	// Pending counts the sweeps, deletions and purges that were not done when the audit ended. What they
	// have yet to do is not among the drifts, whether or not a projector does it.
	Pending int64
	// Stalled reports that the projectors stood still while the audit waited for them, or did not finish
	// in a long time. What they have not projected is then among the drifts.
	Stalled bool
}

const (
	defaultParallel = 8
	defaultPageSize = 1000
)

// Run compares every view of a database with its source, once. It waits if the account throttles it.
// Error: the first of the database; what was found before it was reported.
//
// Differences that a projector has yet to remove are no drift: if a view differs, Run waits until the
// projectors have passed the present ends of the change feeds, and compares again. Only what differs
// twice, while its source stays the same, is drift. Run writes nothing unless Repair is set. Repairs
// have the same guards as the projector's writes, so Run may run at any time beside servers and
// projectors.
//
// The change feeds of the sources list what exists. Each partition that they name is compared once,
// by one query and a few point reads. (A filter across partitions would not tell how far it is, and
// would not find the comments of a missing post.) Memory holds some partitions at a time, the feed,
// and less than 100 bytes for each post, user and username.
func Run(ctx context.Context, db *cosmos.DB, options Options) (Result, error) {
	run := begin(db, options)
	err := run.all(ctx)
	return run.result, err
}

func begin(db *cosmos.DB, options Options) *auditRun {
	options.Parallel = cmp.Or(options.Parallel, defaultParallel)
	options.PageSize = cmp.Or(options.PageSize, defaultPageSize)
	if options.Sleep == nil {
		options.Sleep = cosmos.Sleep
	}
	database := open(db)
	return &auditRun{
		database: database,
		options:  options,
		remember: look{database: database, cached: newUserCache(), known: newHashSet()},
		seen:     newHashSet(),
		stands:   map[changefeed.Feed]standing{},
	}
}

// auditRun is one run of an audit.
type auditRun struct {
	*database
	options  Options
	remember look     // of the first look at everything
	seen     *hashSet // the subjects that were looked at
	scanned  map[changefeed.Feed]changefeed.Progress
	result   Result
	stands   map[changefeed.Feed]standing

	mu       sync.Mutex // guards what follows while subjects are looked at
	doubtful []doubt
}

// subject is what is looked at in one go: a partition of posts, users or usernames, or the feed.
type subject struct{ container, partition string }

// maxDoubtful is how many subjects are kept to be looked at again.
const maxDoubtful = 1000

// all looks at posts first: what is known of them then tells which copies in users have a source.
func (a *auditRun) all(ctx context.Context) error {
	if err := a.measure(ctx); err != nil {
		return err
	}
	a.tell()
	for _, container := range auditedContainers {
		if err := a.scan(ctx, container); err != nil {
			return err
		}
	}
	if err := a.lookAt(ctx, []subject{{schema.Feed, schema.FeedPartition}}); err != nil {
		return err
	}
	if err := a.settle(ctx); err != nil {
		return err
	}
	return a.countPending(ctx)
}

const pendingQuery = `SELECT c.id FROM c WHERE c.type IN ('sweep', 'deletion', 'purge')`

func (a *auditRun) countPending(ctx context.Context) error {
	return a.db.RetryTransient(ctx, func() error {
		a.result.Pending = 0
		pager := a.leases.NewQueryItemsPager(pendingQuery, azcosmos.NewPartitionKey(), nil)
		for pager.More() {
			page, err := pager.NextPage(ctx)
			if err != nil {
				return cosmos.ToBlogError(err)
			}
			a.result.Pending += int64(len(page.Items))
		}
		return nil
	})
}

// lookAt takes the first look at some subjects. Those in which something differs are kept, until they are too many.
func (a *auditRun) lookAt(ctx context.Context, subjects []subject) error {
	err := a.each(ctx, len(subjects), func(ctx context.Context, i int) error {
		drifts, err := a.look(ctx, a.remember, subjects[i])
		if err == nil && len(drifts) > 0 {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.doubtful = append(a.doubtful, newDoubt(subjects[i], drifts))
		}
		return err
	})
	if err == nil && len(a.doubtful) >= maxDoubtful {
		err = a.settle(ctx)
	}
	return err
}

// look looks at a subject for as long as the account makes it wait.
func (a *auditRun) look(ctx context.Context, l look, s subject) (drifts []Drift, err error) {
	err = a.db.RetryTransient(ctx, func() (err error) {
		drifts, err = l.at(cosmos.WithSession(ctx), s) // what is read later is no older; a session may be lost, and another begins
		return err
	})
	if err != nil && cosmos.IsPermanent(err) { // an item that is read for other reasons, too, is not of the form that it should have
		d := Drift{Kind: DriftUnreadable, Container: s.container, Partition: s.partition, ID: s.partition, source: err.Error()}
		return []Drift{d.says("", err, "")}, nil
	}
	return drifts, err
}

// each calls f with each number below n, Parallel of them beside one another.
func (a *auditRun) each(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(a.options.Parallel)
	for i := range n {
		group.Go(func() error { return f(ctx, i) })
	}
	return group.Wait()
}
