package embedded

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"cosmosblog/store/embedded/value"
)

// layout is how what is derived of a container's items is kept: the entries of its indexes, and when items expire. Where
// a stored definition names none, a change of it was under way, or the folder is of an earlier version: all of it is
// made anew when the folder is opened.
const layout = 1

// rebuildBytes is how much is handed to Pebble at once.
const rebuildBytes = 256 << 10

// nextIndex gives the number for the first of so many indexes that come after the container's, none of which it has.
func (c *container) nextIndex(count int) int {
	next := c.firstIndex + len(c.indexes)
	if next+count >= creation.number {
		return 0
	}
	return next
}

// rebuild makes anew what is derived of a container's items, as a changed definition of it says. The old definition
// stays good for reading until the batch is committed; nothing is written to the container meanwhile, and nothing ever
// again under the old definition. Before anything else it writes down that the change is under way, so that it comes to
// its end also after a crash.
func (e *Engine) rebuild(d *database, old, changed *container, batch *pebble.Batch) error {
	unlock := old.lockLogs()
	defer unlock()
	underway := changed.stored()
	underway.Layout = 0
	first := e.db.NewBatch()
	defer first.Close()
	if err := setDefinition(first, definitionKey(d.number, old.name), underway); err != nil {
		return err
	}
	if err := e.onDisk(first.Commit(pebble.Sync)); err != nil {
		return err
	}
	if err := e.derive(changed, changed.indexes[1:], old.indexes); err != nil {
		return err
	}
	for _, x := range old.indexes[1:] {
		deleteWithin(batch, indexKey(old.number, x.number))
	}
	changed.built = old.built + 1
	for _, r := range old.ranges {
		r.built = changed.built
	}
	return nil
}

// rebuildAll does so where nobody else has the container yet, whatever is there.
func (e *Engine) rebuildAll(c *container) error {
	batch := e.db.NewBatch()
	defer batch.Close()
	deleteWithin(batch, containerKey(spaceIndex, c.number))
	if err := batch.Commit(pebble.NoSync); err != nil {
		return err
	}
	if err := e.derive(c, c.indexes, nil); err != nil {
		return err
	}
	last := e.db.NewBatch()
	defer last.Close()
	if err := setDefinition(last, definitionKey(c.databaseNumber, c.name), c.stored()); err != nil {
		return err
	}
	return e.onDisk(last.Commit(pebble.Sync))
}

// lockLogs keeps everybody from writing to the container until unlock is called. Ranges that come of a split share a log.
func (c *container) lockLogs() (unlock func()) {
	locked := map[*log]bool{}
	for _, r := range c.ranges {
		if !locked[r.log] {
			locked[r.log] = true
			r.mu.Lock()
		}
	}
	return func() {
		for l := range locked {
			l.mu.Unlock()
		}
	}
}

// derive writes entries of indexes, and when items expire, for all items of a container. What has expired does not come
// back: it is removed, with its entries in the indexes that were there before. Nobody else writes to the container.
func (e *Engine) derive(c *container, indexes, before []index) (err error) {
	w := &deriver{engine: e, container: c, indexes: indexes, before: before, now: e.options.Now().Unix(), batch: e.db.NewBatch()}
	defer func() { err = errors.Join(err, w.batch.Close()) }()
	for _, x := range indexes {
		deleteWithin(w.batch, indexKey(c.number, x.number))
	}
	deleteWithin(w.batch, containerKey(spaceExpiry, c.number))
	if err := e.each(containerKey(spaceItem, c.number), w.item); err != nil {
		return err
	}
	return w.handOver(0)
}

// deriver goes through the items of a container.
type deriver struct {
	engine    *Engine
	container *container
	indexes   []index
	before    []index
	now       int64
	batch     *pebble.Batch // what was not handed over yet
}

// item derives what one item asks for. A damaged one is reported and left as it is.
func (w *deriver) item(key, stored []byte) error {
	if err := w.handOver(rebuildBytes); err != nil {
		return err
	}
	r, root, p, err := w.container.decode(stored)
	if err != nil {
		w.engine.options.damaged(err)
		return nil
	}
	number, l := w.container.number, locator(bytes.Clone(key[len(containerKey(spaceItem, 0)):]))
	if r.expired(w.now) {
		for _, x := range w.before {
			w.batch.Delete(x.key(number, l, len(p.prefix), root), nil)
		}
		w.batch.Delete(feedKey(number, r.log, r.lsn, r.sequence), nil)
		return w.batch.Delete(key, nil)
	}
	for _, x := range w.indexes {
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

// decode reads a stored item. Error: errDamagedRecord.
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

// handOver gives the batch to Pebble where it is larger than so many bytes, and begins another.
func (w *deriver) handOver(size int) error {
	if w.batch.Len() <= size {
		return nil
	}
	err := errors.Join(w.batch.Commit(pebble.NoSync), w.batch.Close())
	w.batch = w.engine.db.NewBatch()
	return err
}

// deleteWithin deletes all keys that begin with prefix.
func deleteWithin(batch *pebble.Batch, prefix []byte) { batch.DeleteRange(prefix, after(prefix), nil) }
