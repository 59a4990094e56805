package engine

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// reservedNumbers is the number of log sequence numbers that a range reserves at a time. Once
// per reservation, a commit waits for the disk under the range's lock. After a crash, the unused
// rest of a reservation is skipped.
const reservedNumbers = 1 << 16

// committed is a transaction that was handed to Pebble. It may not be on disk yet.
type committed struct {
	engine    *Engine
	container *container
	keyRange  *keyRange
	lsn       uint64
	batch     *pebble.Batch // nil if there was nothing to write
}

// commit hands the transaction's batch to Pebble, which makes it visible to others. If it fails,
// nothing is written. The caller releases the partition's lock and calls wait before it
// responds.
func (t *transaction) commit() (committed, error) {
	r := t.container.rangeOf(t.partition.epk())
	result := committed{engine: t.engine, container: t.container, keyRange: r}
	if !t.changed() {
		result.lsn = r.applied.Load()
		return result, nil
	}
	batch := t.engine.db.NewBatch()
	if err := t.writeIndexes(batch); err != nil {
		return result, errors.Join(err, batch.Close())
	}
	lsn, err := r.apply(t, batch)
	if err != nil {
		return result, errors.Join(err, batch.Close())
	}
	result.lsn, result.batch = lsn, batch
	return result, nil
}

// wait blocks until the transaction is on disk, then signals the watchers.
func (c committed) wait() error {
	if c.engine == nil {
		return nil // the transaction never began
	}
	// Data that the transaction read may not be on disk yet, and its response must survive a crash.
	if c.batch == nil {
		return c.engine.waitDurable(c.keyRange, c.lsn)
	}
	c.engine.waiting.Add(1)
	err := c.batch.SyncWait()
	c.engine.waiting.Add(-1)
	if err := c.engine.onDisk(err); err != nil {
		return fmt.Errorf("engine: a write did not reach the disk: %w", err)
	}
	c.keyRange.raiseDurable(c.lsn)
	c.container.watch.signal()
	return c.batch.Close()
}

// If more than minWaiting transactions wait for the disk, the log delays its next sync. A sync
// takes processor time from writers that could still join it. The cheapest write takes about
// delayPerCommit of processor time, so the delay never slows down a steady stream of writes.
// Clients do not notice maxSyncDelay.
const (
	minWaiting     = 8
	delayPerCommit = 32 * time.Microsecond
	maxSyncDelay   = 2 * time.Millisecond
)

// syncInterval returns the minimum time between two syncs of the log for a number of waiting
// transactions. If only few wait, it is zero.
func syncInterval(waiting int64) time.Duration {
	if waiting <= minWaiting {
		return 0
	}
	return min(time.Duration(waiting)*delayPerCommit, maxSyncDelay)
}

// raiseDurable records that a number is on disk. The engine has one log that holds batches in
// the order of their numbers, so all lower numbers are on disk too.
func (r *keyRange) raiseDurable(lsn uint64) {
	for durable := r.durable.Load(); durable < lsn; durable = r.durable.Load() {
		if r.durable.CompareAndSwap(durable, lsn) {
			return
		}
	}
}

// waitDurable blocks until the range's batches up to a number are on disk.
func (e *Engine) waitDurable(r *keyRange, lsn uint64) error {
	if r == nil || r.durable.Load() >= lsn {
		return nil
	}
	if err := e.onDisk(e.db.LogData(nil, pebble.Sync)); err != nil {
		return fmt.Errorf("engine: a write did not reach the disk: %w", err)
	}
	r.raiseDurable(lsn)
	return nil
}

// apply assigns the transaction's number and hands its batch to Pebble, in the order of the
// numbers.
func (r *keyRange) apply(t *transaction, batch *pebble.Batch) (uint64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.dropped {
		return 0, errOwnerNotFound
	}
	if !t.container.isCurrent() {
		return 0, errRedefined
	}
	if err := t.engine.onDisk(nil); err != nil {
		return 0, err
	}
	if r.lsn == r.ceiling {
		if err := t.engine.raiseCeiling(t.container, r, r.ceiling+reservedNumbers); err != nil {
			return 0, err
		}
	}
	r.lsn++
	t.writeItems(batch, r)
	if err := t.engine.db.ApplyNoSyncWait(batch, pebble.Sync); err != nil {
		return 0, err
	}
	t.engine.counts.add(t.container.databaseName, t.container.name, t.partition.epk())
	r.applied.Store(r.lsn)
	return r.lsn, nil
}

// writeIndexes adds the changes of index and expiry entries to the batch. They do not depend on the
// number. Index entries are added last, because a renamed item has the same entry in the index of
// creation under its old id and its new one.
func (t *transaction) writeIndexes(batch *pebble.Batch) error {
	type entry struct{ key, locator []byte }
	var added []entry
	for _, id := range t.order {
		c := t.changes[id]
		for _, x := range t.container.indexes {
			before, err := t.indexEntry(x, c.locator, c.old)
			if err != nil {
				return err
			}
			now, err := t.indexEntry(x, c.locator, c.new)
			if err != nil {
				return err
			}
			if bytes.Equal(before, now) {
				continue
			}
			if before != nil {
				batch.Delete(before, nil)
			}
			if now != nil {
				added = append(added, entry{now, c.locator})
			}
		}
		if c.old != nil && c.old.expires != 0 {
			batch.Delete(expiryKey(t.container.number, c.old.expires, c.locator), nil)
		}
		if c.new != nil && c.new.expires != 0 {
			batch.Set(expiryKey(t.container.number, c.new.expires, c.locator), nil, nil)
		}
	}
	for _, e := range added {
		batch.Set(e.key, e.locator, nil)
	}
	return nil
}

func (t *transaction) indexEntry(x index, l locator, r *record) ([]byte, error) {
	if r == nil {
		return nil, nil
	}
	root, err := r.value()
	if err != nil {
		return nil, err
	}
	return x.key(t.container.number, l, len(t.partition.prefix), root), nil
}

// writeItems adds the items and their change feed entries to the batch.
func (t *transaction) writeItems(batch *pebble.Batch, r *keyRange) {
	number := t.container.number
	for sequence, id := range t.order {
		c := t.changes[id]
		if c.old != nil {
			batch.Delete(feedKey(number, c.old.log, c.old.lsn, c.old.sequence), nil)
		}
		if c.new == nil {
			if c.old != nil {
				batch.Delete(itemKey(number, c.locator), nil)
			}
			continue
		}
		c.new.lsn, c.new.sequence, c.new.log = r.lsn, uint32(sequence), r.number
		key := itemKey(number, c.locator)
		set := batch.SetDeferred(len(key), recordHeader+len(c.new.text))
		copy(set.Key, key)
		c.new.encode(set.Value[:0])
		set.Finish() // cannot fail: the batch has no index
		batch.Set(feedKey(number, r.number, r.lsn, uint32(sequence)), c.locator, nil)
	}
}

// raiseCeiling stores the highest number that a range may use, and waits for the disk. The
// caller holds the range's lock or is its only user.
func (e *Engine) raiseCeiling(c *container, r *keyRange, ceiling uint64) error {
	key := ceilingKey(c.number, r.number)
	if err := e.onDisk(e.db.Set(key, binary.BigEndian.AppendUint64(nil, ceiling), pebble.Sync)); err != nil {
		return err
	}
	r.ceiling = ceiling
	return nil
}

// loadNumbers makes a range continue above all numbers that it used before.
func (e *Engine) loadNumbers(c *container, r *keyRange) error {
	ceiling, err := e.meta(string(ceilingKey(c.number, r.number)))
	if err != nil {
		return err
	}
	r.lsn, r.ceiling = ceiling, ceiling
	r.applied.Store(ceiling)
	r.durable.Store(ceiling)
	return nil
}

// releaseNumbers returns the unused part of the range's reservation when the engine closes.
func (e *Engine) releaseNumbers(c *container, r *keyRange) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lsn == r.ceiling {
		return nil
	}
	return e.raiseCeiling(c, r, r.lsn)
}
