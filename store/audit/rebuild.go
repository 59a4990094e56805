package audit

import (
	"context"
	"errors"
	"slices"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/follow"
	"cosmosblog/store/schema"
)

// Rebuilt is the result of a rebuild. After an interruption, it covers only the resumed run.
type Rebuilt struct {
	Posts, Users, Usernames, Lists int64 // that were compared

	Differed int64 // partitions, including the feed, that differed
	Left     int64 // drifts that could not be corrected
	// Unstable counts the partitions that could not be compared, as in Result. Their copies were
	// overwritten all the same: they have no state that their source has lost.
	Unstable int64
	Since    blog.DateTime // start of the interrupted rebuild; empty if none
}

// Rebuild rebuilds all views from the beginning of the change feeds, while servers read the present
// ones. If the feeds may not show all items (changefeed.History), it reads them by query. It
// compares each partition that they name with its source. It leaves correct items as they are, and
// writes all others again, whatever revision they have. It returns its result even if it fails.
// Errors: ErrRebuildTaken, or the first error of the database.
//
// Unlike Run, Rebuild does not wait for projectors but does their work itself. It resumes an
// interrupted rebuild, unless the history in which that began has ended. It waits if the account
// throttles it. It may run at any time beside servers and projectors, because its writes have the
// guards of a repair.
//
// The feed comes first, because every visitor sees it. Posts are next, each with its copies,
// its deletion, its counters, and the usernames in its partition that no pending sweep will
// change. Then come users, whose copies without a source are deleted and whose counters are
// corrected, the reservations of usernames, and the lists of tags and months. The feed is rebuilt
// once more at the end.
func Rebuild(ctx context.Context, db *cosmos.DB, options Options) (Rebuilt, error) {
	options.Repair = true
	run := &rebuildRun{audit: newAuditRun(db, options)}
	err := run.run(ctx)
	return run.result(), err
}

// rebuildRun is one run of a rebuild: the comparisons and repairs of an audit, without its
// waits for projectors.
type rebuildRun struct {
	audit      *auditRun
	checkpoint *rebuildCheckpoint
	differed   int64 // guarded by audit.mu
}

func (r *rebuildRun) result() Rebuilt {
	a := r.audit.result
	rebuilt := Rebuilt{
		Posts:     a.Posts,
		Users:     a.Users,
		Usernames: a.Usernames,
		Lists:     a.Lists,
		Differed:  r.differed,
		Left:      a.Drifts - a.Corrected,
		Unstable:  a.Unstable,
	}
	if r.checkpoint != nil && r.checkpoint.resumed {
		rebuilt.Since = r.checkpoint.item.Begun
	}
	return rebuilt
}

func (r *rebuildRun) run(ctx context.Context) error {
	history, err := r.audit.readHistory(ctx)
	if err != nil {
		return err
	}
	if r.checkpoint, err = openRebuildCheckpoint(ctx, r.audit.db, history.Name, r.audit.options.FromStart); err != nil {
		return err
	}
	if err := r.audit.begin(ctx, r.checkpoint.item.Positions); err != nil {
		return err
	}
	feed, err := kindOf(schema.Feed)
	if err != nil {
		return err
	}
	for _, k := range append([]kind{feed}, kinds...) { // the feed first, too
		if err := r.rebuildKind(ctx, k); err != nil {
			return err
		}
	}
	return r.checkpoint.remove(ctx)
}

// rebuildKind rebuilds all targets of a kind. If the container was deleted and created again since
// the checkpoint, it begins at the beginning.
func (r *rebuildRun) rebuildKind(ctx context.Context, k kind) error {
	moved := func(ctx context.Context) error { return r.checkpoint.advance(ctx, r.audit.positions) }
	err := r.audit.eachPage(ctx, k, r.rebuild, moved)
	if errors.Is(err, follow.ErrContainerReplaced) || errors.Is(err, follow.ErrWentBack) {
		if err := r.beginAgain(ctx, k.container); err != nil {
			return err
		}
		err = r.audit.eachPage(ctx, k, r.rebuild, moved)
	}
	return err
}

// beginAgain sets the positions in a container back to its beginning.
func (r *rebuildRun) beginAgain(ctx context.Context, container string) error {
	r.audit.compared = newHashSet()
	beginnings, err := r.audit.beginnings(ctx, container)
	if err == nil {
		beginnings, err = r.audit.follower.Measure(ctx, beginnings)
	}
	others := slices.DeleteFunc(r.audit.positions, func(p follow.Position) bool { return p.Container == container })
	r.audit.positions = append(others, beginnings...)
	return err
}

// rebuild rebuilds partitions of one container. It first does what a projector would do. Then it
// corrects those differences that it finds twice, some time apart, with the same source. A
// difference that it finds once may be the work in progress of a projector, or an older read. It
// also overwrites copies whose source keeps changing.
func (r *rebuildRun) rebuild(ctx context.Context, targets []target) error {
	if err := r.audit.findSuspects(ctx, targets, r.project); err != nil {
		return err
	}
	unstable, err := r.audit.resolveSuspects(ctx, r.audit.pause)
	if err != nil {
		return err
	}
	return r.audit.forEach(ctx, len(unstable), func(ctx context.Context, i int) error {
		return r.overwrite(ctx, unstable[i])
	})
}

// overwrite repairs the copies and usernames of a suspect that no comparison could confirm. It is
// right also while the source changes: each write is conditional on the item that it replaces, and
// what it writes is the state of the source just before. A projector does the rest. If a copy had a
// state that the source has lost, however, no projector would overwrite it.
func (r *rebuildRun) overwrite(ctx context.Context, s suspect) error {
	drifts, err := r.audit.compare(ctx, newComparer(r.audit.database), s.target)
	if err != nil {
		return err
	}
	_, restless := s.confirm(drifts)
	restless = slices.DeleteFunc(restless, func(d Drift) bool {
		return d.Kind != DriftCopy && d.Kind != DriftName && d.Kind != DriftSurplus
	})
	_, err = r.audit.repair(ctx, s.target, restless)
	return err
}

// project compares a partition that seems to differ without caches, does what a projector would do
// for a partition of posts, and returns the remaining drifts. It ignores the error if an item
// prevents the projection: a repair may correct that item.
func (r *rebuildRun) project(ctx context.Context, t target) ([]Drift, error) {
	a := r.audit
	drifts, err := a.compare(ctx, newComparer(a.database), t)
	if err != nil || len(drifts) == 0 {
		return nil, err
	}
	a.mu.Lock()
	r.differed++
	a.mu.Unlock()
	if t.container != schema.Posts {
		return drifts, nil
	}
	err = a.db.RetryTransient(ctx, func() error {
		return a.chores.RepairPost(cosmos.WithSession(ctx), t.partition)
	})
	if err != nil && !cosmos.IsItemError(err) {
		return nil, err
	}
	return a.compare(ctx, newComparer(a.database), t)
}
