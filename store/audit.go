package store

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"golang.org/x/sync/errgroup"
)

// Auditing compares every view with its source, and says what drifts. What a projector is yet to do is no drift: where a
// view differs, both are read again after the projectors have passed the ends that the change feeds had then, and only
// what differs twice, while its source stays as it is, is one. Nothing is written but where Repair says so, and then
// under the same guards as the projector's own writes, so that it may run at any time beside servers and projectors.
//
// The change feeds of the sources say what there is, from the beginning. Each partition that they name is looked at once,
// by one query and a few point reads. A filter across partitions would not tell how far it is, and finds no comments of a
// post that is gone. What is in memory is some partitions at a time, the feed, and below 100 bytes for each post, user and
// username.
type Auditing struct {
	Store *Store
	// Repair mends what drifts, and looks again whether it is mended. It can be broken off and begun again at any time.
	Repair bool
	// Parallel is how many partitions are looked at at a time; 8 where 0.
	Parallel int
	// PageSize is how many changes are read at a time; 1000 where 0.
	PageSize int
	// Found is told of each drift, and whether it was mended, from one goroutine at a time. It may be nil.
	Found func(drift Drift, mended bool)
	// Progress is told how far the audit is, from one goroutine at a time. It may be nil.
	Progress func(AuditProgress)
	// Sleep waits before what differs is looked at again; a timer where nil.
	Sleep func(ctx context.Context, d time.Duration) error
}

// AuditProgress says how far an audit is. Done and Total are positions in the change feeds, added up: no counts of items,
// but they grow evenly with them.
type AuditProgress struct{ Done, Total int64 }

// Audited says what an audit did.
type Audited struct {
	Posts, Users, Usernames int64 // that were looked at
	Drifts                  int64
	Mended                  int64 // of the drifts
	// Restless counts the partitions of which nothing can be said: whenever something differed there, the source had
	// changed meanwhile.
	Restless int64
	// Pending counts the sweeps, deletions and purges that were not done when the audit ended: what these have to do yet is not
	// among the drifts, whether or not a projector does it.
	Pending int64
	// Stalled tells that projectors stood still while the audit waited for them, or did not come to the end in a long time:
	// then what they have not projected yet is among the drifts.
	Stalled bool
}

const (
	defaultAuditParallel = 8
	defaultAuditPageSize = 1000
)

// Run audits the database once. A throttled request is waited for. Error: the first that the database gives; what was
// found until then was told.
func (a *Auditing) Run(ctx context.Context) (Audited, error) {
	run := a.begin()
	err := run.all(ctx)
	return run.audited, err
}

func (a *Auditing) begin() *auditRun {
	run := &auditRun{
		Auditing: *a,
		remember: look{Store: a.Store, cached: newUserCache(), known: newHashSet()},
		seen:     newHashSet(),
		stands:   map[feed]standing{},
	}
	run.Parallel = cmp.Or(run.Parallel, defaultAuditParallel)
	run.PageSize = cmp.Or(run.PageSize, defaultAuditPageSize)
	if run.Sleep == nil {
		run.Sleep = sleep
	}
	return run
}

// auditRun is one run of an Auditing.
type auditRun struct {
	Auditing
	remember look     // of the first look at everything
	seen     *hashSet // the subjects that were looked at
	scanned  map[feed]feedEnd
	audited  Audited
	stands   map[feed]standing

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
	if err := a.lookAt(ctx, []subject{{feedContainer, feedPartition}}); err != nil {
		return err
	}
	if err := a.settle(ctx); err != nil {
		return err
	}
	return a.countPending(ctx)
}

const pendingQuery = `SELECT c.id FROM c WHERE c.type IN ('sweep', 'deletion', 'purge')`

func (a *auditRun) countPending(ctx context.Context) error {
	return a.Store.persist(ctx, func() error {
		a.audited.Pending = 0
		pager := a.Store.containers[leasesContainer].NewQueryItemsPager(pendingQuery, azcosmos.NewPartitionKey(), nil)
		for pager.More() {
			page, err := pager.NextPage(ctx)
			if err != nil {
				return asBlogError(err)
			}
			a.audited.Pending += int64(len(page.Items))
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
	err = a.Store.persist(ctx, func() (err error) {
		drifts, err = l.at(WithSession(ctx), s) // what is read later is no older; a session may be lost, and another begins
		return err
	})
	if err != nil && Refused(err) { // an item that is read for other reasons, too, is not of the form that it should have
		d := Drift{Kind: DriftUnreadable, Container: s.container, Partition: s.partition, ID: s.partition, source: err.Error()}
		return []Drift{d.says("", err, "")}, nil
	}
	return drifts, err
}

// each calls f with each number below n, Parallel of them beside one another.
func (a *auditRun) each(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(a.Parallel)
	for i := range n {
		group.Go(func() error { return f(ctx, i) })
	}
	return group.Wait()
}
