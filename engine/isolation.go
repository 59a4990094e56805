package engine

import (
	"context"
	"errors"
)

// locked runs work and commits under the partition's lock. If work is rejected, the result names
// the data that the rejection depends on; the caller waits until that is on disk.
func (t *transaction) locked(ctx context.Context, work func(*transaction) error) (committed, error) {
	r := t.container.rangeOf(t.partition.epk())
	unlock, err := t.engine.locks.lock(ctx, itemKey(t.container.number, t.partition.prefix))
	if err != nil {
		return committed{}, err
	}
	defer unlock()
	if err := work(t); err != nil {
		return committed{engine: t.engine, container: t.container, keyRange: r, lsn: r.applied.Load()}, err
	}
	if err := ctx.Err(); err != nil {
		return committed{}, err
	}
	return t.commit()
}

// optimistic runs the work of a script under snapshot isolation and commits it
// (Options.SnapshotScripts). It holds the partition's lock only during the commit, so other
// writes can commit while the script runs. Error: 449 if an item that the script wrote, and even
// if it only created and deleted it, has changed since the snapshot.
func (t *transaction) optimistic(ctx context.Context, work func(*transaction) error) (done committed, err error) {
	r := t.container.rangeOf(t.partition.epk())
	r.mu.Lock() // no batch may become visible between the snapshot and its number
	snapshot, seen := t.engine.db.NewSnapshot(), r.applied.Load()
	r.mu.Unlock()
	defer func() { err = errors.Join(err, snapshot.Close()) }()
	t.reader = snapshot
	err = work(t)
	if err != nil || len(t.changes) == 0 {
		return committed{engine: t.engine, container: t.container, keyRange: r, lsn: seen}, err
	}
	return t.locked(ctx, (*transaction).checkWrites)
}

// checkWrites returns a 449 error if an item that the transaction wrote is no longer as it was in
// the transaction's snapshot. Items that it only read do not count.
func (t *transaction) checkWrites() error {
	for _, c := range t.changes {
		now, err := readRecord(t.engine.db, t.container, c.locator)
		if err != nil {
			return err
		}
		if !now.isSameVersion(c.old) {
			return errWriteConflict
		}
	}
	return nil
}

// isSameVersion reports whether two committed records of one item are from the same write. A nil
// record stands for a missing item.
func (r *record) isSameVersion(other *record) bool {
	if r == nil || other == nil {
		return r == other
	}
	return r.log == other.log && r.lsn == other.lsn && r.sequence == other.sequence
}
