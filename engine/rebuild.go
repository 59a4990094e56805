package engine

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"cosmosblog/engine/value"
)

// layoutVersion is the version of a container's index and expiry entries. A stored definition
// has layout 0 while its entries are rebuilt. If a crash interrupts the rebuild, Open repeats
// it.
const layoutVersion = 1

// rebuildBytes is the size of the batches that a rebuild hands to Pebble.
const rebuildBytes = 256 << 10

// redefine rebuilds a container's index and expiry entries for a changed definition. Meanwhile,
// writes to the container and queries wait. Afterwards, no request uses the old definition.
func (e *Engine) redefine(old, changed *container) error {
	unlock := old.lockLogs()
	defer unlock()
	changed.generation = old.generation + 1
	for _, r := range old.ranges {
		r.generation.Store(changed.generation)
	}
	return e.rebuild(changed)
}

// rebuild rebuilds the entries of a container without concurrent users. It first records the
// rebuild on disk, so that a crash cannot leave it unfinished.
func (e *Engine) rebuild(c *container) error {
	definition := c.stored()
	definition.Layout = 0
	if err := e.storeDefinition(c, definition); err != nil {
		return err
	}
	if err := e.rebuildEntries(c); err != nil {
		return err
	}
	return e.storeDefinition(c, c.stored())
}

// storeDefinition writes a definition and returns when it and all earlier writes are on disk.
func (e *Engine) storeDefinition(c *container, s storedDefinition) error {
	batch := e.db.NewBatch()
	defer batch.Close()
	if err := setDefinition(batch, definitionKey(c.databaseNumber, c.name), s); err != nil {
		return err
	}
	return e.onDisk(batch.Commit(pebble.Sync))
}

// isCurrent reports whether the container's indexes match its definition.
func (c *container) isCurrent() bool { return c.ranges[0].generation.Load() == c.generation }

// rebuildEntries writes the index and expiry entries of all items of a container. It removes
// expired items, so that a longer ttl does not revive them.
func (e *Engine) rebuildEntries(c *container) (err error) {
	w := &rebuilder{engine: e, container: c, now: e.options.Now().Unix(), batch: e.db.NewBatch()}
	defer func() { err = errors.Join(err, w.batch.Close()) }()
	deleteWithin(w.batch, containerKey(spaceIndex, c.number))
	deleteWithin(w.batch, containerKey(spaceExpiry, c.number))
	if err := e.each(containerKey(spaceItem, c.number), w.item); err != nil {
		return err
	}
	return w.commitBatch(0)
}

// rebuilder scans the items of a container.
type rebuilder struct {
	engine    *Engine
	container *container
	now       int64
	batch     *pebble.Batch // not yet handed to Pebble
}

// item writes the entries of one item. A damaged item is reported and left unchanged.
func (w *rebuilder) item(key, stored []byte) error {
	if err := w.commitBatch(rebuildBytes); err != nil {
		return err
	}
	r, root, p, err := w.container.decode(stored)
	if err != nil {
		w.engine.options.damaged(err)
		return nil
	}
	number, l := w.container.number, locator(bytes.Clone(key[len(containerKey(spaceItem, 0)):]))
	if r.expired(w.now) {
		w.batch.Delete(feedKey(number, r.log, r.lsn, r.sequence), nil)
		return w.batch.Delete(key, nil)
	}
	for _, x := range w.container.indexes {
		w.batch.Set(x.key(number, l, len(p.prefix), root), l, nil)
	}
	written, _ := root.Get("_ts").AsNumber()
	expires, err := w.container.definition.expiry(root, int64(written))
	if err != nil {
		return err
	}
	if expires != r.expires {
		r.expires = expires
		w.batch.Set(key, r.encode(make([]byte, 0, recordHeader+len(r.text))), nil)
	}
	if r.expires != 0 {
		w.batch.Set(expiryKey(number, r.expires, l), nil, nil)
	}
	return nil
}

// decode decodes a stored item. Error: errDamagedRecord.
func (c *container) decode(stored []byte) (r *record, root value.Value, p partition, err error) {
	if r, err = decodeRecord(stored); err != nil {
		return r, root, p, err
	}
	if root, err = r.value(); err != nil {
		return r, root, p, err
	}
	if p, err = c.partitionOf(root); err != nil {
		err = fmt.Errorf("%w: %v", errDamagedRecord, err)
	}
	return r, root, p, err
}

// commitBatch commits the batch and begins another if it is larger than size bytes.
func (w *rebuilder) commitBatch(size int) error {
	if w.batch.Len() <= size {
		return nil
	}
	err := errors.Join(w.batch.Commit(pebble.NoSync), w.batch.Close())
	w.batch = w.engine.db.NewBatch()
	return err
}

// deleteWithin deletes all keys that begin with prefix.
func deleteWithin(batch *pebble.Batch, prefix []byte) { batch.DeleteRange(prefix, after(prefix), nil) }
