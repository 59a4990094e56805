package embedded

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// numbersAhead is how many log sequence numbers a range writes down that it may give; once in so many, a commit waits for
// the disk under the range's lock. After a crash the rest of them is never given.
const numbersAhead = 1 << 16

// committed is a transaction that Pebble has, and that may not be on disk yet.
type committed struct {
	engine    *Engine
	container *container
	keyRange  *keyRange
	lsn       uint64
	batch     *pebble.Batch // nil where there was nothing to write
}

// commit hands the transaction's batch to Pebble; from then on others see it. The caller gives back the partition's lock
// and calls wait before it answers. Nothing is written where it fails.
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

// wait waits until the transaction is on disk, and tells who watches.
func (c committed) wait() error {
	if c.engine == nil {
		return nil // it never began
	}
	if c.batch == nil { // what it read may still be on its way to the disk, and its answer must hold
		return c.engine.settle(c.keyRange, c.lsn)
	}
	c.engine.waiting.Add(1)
	err := c.batch.SyncWait()
	c.engine.waiting.Add(-1)
	if err := c.engine.onDisk(err); err != nil {
		return fmt.Errorf("embedded: a write did not reach the disk: %w", err)
	}
	c.keyRange.raiseDurable(c.lsn)
	c.container.watch.signal()
	return c.batch.Close()
}

// Where more than a few transactions wait for the disk, the log waits, too, before it is synced again: a sync takes a
// processor's time, which others need to come along with it. In oneCommits a processor is through with the least of
// writes, so that the wait holds nobody up who writes much; a waiting client never notices longestWait.
const (
	fewWaiting  = 8
	oneCommits  = 32 * time.Microsecond
	longestWait = 2 * time.Millisecond
)

// syncInterval is how long the log waits from one sync to the next while so many transactions wait for the disk. Few
// never wait for more than a sync.
func syncInterval(waiting int64) time.Duration {
	if waiting <= fewWaiting {
		return 0
	}
	return min(time.Duration(waiting)*oneCommits, longestWait)
}

// raiseDurable notes that a number is on disk. The log is one, and batches are in it in the order of their numbers: what
// came before is on disk too.
func (r *keyRange) raiseDurable(lsn uint64) {
	for durable := r.durable.Load(); durable < lsn; durable = r.durable.Load() {
		if r.durable.CompareAndSwap(durable, lsn) {
			return
		}
	}
}

// settle waits until what a range handed to Pebble, up to a number, is on disk.
func (e *Engine) settle(r *keyRange, lsn uint64) error {
	if r == nil || r.durable.Load() >= lsn {
		return nil
	}
	if err := e.onDisk(e.db.LogData(nil, pebble.Sync)); err != nil {
		return fmt.Errorf("embedded: a write did not reach the disk: %w", err)
	}
	r.raiseDurable(lsn)
	return nil
}

// apply gives the transaction its number and hands its batch to Pebble, in the order of the numbers.
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
		if err := t.engine.raiseCeiling(t.container, r, r.ceiling+numbersAhead); err != nil {
			return 0, err
		}
	}
	r.lsn++
	t.writeItems(batch, r)
	if err := t.engine.db.ApplyNoSyncWait(batch, pebble.Sync); err != nil {
		return 0, err
	}
	r.applied.Store(r.lsn)
	return r.lsn, nil
}

// writeIndexes puts into the batch what does not depend on the number: index entries that go and that come.
func (t *transaction) writeIndexes(batch *pebble.Batch) error {
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
				batch.Set(now, c.locator, nil)
			}
		}
		if c.old != nil && c.old.expires != 0 {
			batch.Delete(expiryKey(t.container.number, c.old.expires, c.locator), nil)
		}
		if c.new != nil && c.new.expires != 0 {
			batch.Set(expiryKey(t.container.number, c.new.expires, c.locator), nil, nil)
		}
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

// writeItems puts the items and their places in the change feed into the batch.
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
		batch.Set(itemKey(number, c.locator), c.new.encode(make([]byte, 0, recordHeader+len(c.new.text))), nil)
		batch.Set(feedKey(number, r.number, r.lsn, uint32(sequence)), c.locator, nil)
	}
}

// raiseCeiling writes down up to which number a range may count, and waits for the disk. The range's lock is held, or
// nobody else has the range.
func (e *Engine) raiseCeiling(c *container, r *keyRange, ceiling uint64) error {
	key := ceilingKey(c.number, r.number)
	if err := e.onDisk(e.db.Set(key, binary.BigEndian.AppendUint64(nil, ceiling), pebble.Sync)); err != nil {
		return err
	}
	r.ceiling = ceiling
	return nil
}

// loadNumbers goes on above every number that was ever given.
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

// releaseNumbers gives back, at the end, the numbers that were written down and not given.
func (e *Engine) releaseNumbers(c *container, r *keyRange) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lsn == r.ceiling {
		return nil
	}
	return e.raiseCeiling(c, r, r.lsn)
}
