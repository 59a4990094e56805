package engine

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
)

// Purge removes expired items and returns their number. As on the service, the change feed does
// not show their removal. It returns the joined errors of single items, or ErrClosed.
func (e *Engine) Purge(ctx context.Context) (removed int, err error) {
	e.gate.RLock()
	defer e.gate.RUnlock()
	if e.closed {
		return 0, ErrClosed
	}
	for _, d := range e.catalog.Load().databases {
		for _, c := range d.containers {
			n, failed := e.purgeContainer(ctx, c)
			removed += n
			err = errors.Join(err, failed)
		}
	}
	return removed, err
}

func (e *Engine) purgeContainer(ctx context.Context, c *container) (removed int, err error) {
	prefix := containerKey(spaceExpiry, c.number)
	now := e.options.Now().Unix()
	due := within(prefix)
	due.UpperBound = expiryKey(c.number, now+1, nil)
	it, err := e.db.NewIter(due)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	var gone []committed // not necessarily on disk yet
	wait := func() {
		for _, done := range gone {
			if failed := done.wait(); failed != nil {
				err = errors.Join(err, failed)
			} else {
				removed++
			}
		}
		gone = gone[:0]
	}
	for it.First(); it.Valid() && ctx.Err() == nil; it.Next() {
		l := locator(bytes.Clone(it.Key()[len(prefix)+8:]))
		expires := int64(binary.BigEndian.Uint64(it.Key()[len(prefix):]))
		done, failed := e.purgeItem(ctx, c, l, expires)
		err = errors.Join(err, failed)
		if done.batch != nil {
			gone = append(gone, done)
		}
		if len(gone) == purgeBatchSize {
			wait()
		}
	}
	wait()
	return removed, errors.Join(err, ctx.Err())
}

// purgeBatchSize is the number of items removed per wait for the disk.
const purgeBatchSize = 100

// purgeItem removes an item that expired at the given Unix second, unless it was written again
// since.
func (e *Engine) purgeItem(ctx context.Context, c *container, l locator, expires int64) (committed, error) {
	stored, err := readRecord(e.db, c, l)
	if err != nil || stored == nil {
		return committed{}, err
	}
	root, err := stored.value()
	if err != nil {
		return committed{}, err
	}
	p, err := c.partitionOf(root)
	if err != nil {
		return committed{}, err
	}
	t := e.newTransaction(c, p)
	id := p.idOf(l)
	done, err := t.locked(ctx, func(t *transaction) error {
		if err := t.stage(id, nil); err != nil {
			return err
		}
		if old := t.changes[id].old; old == nil || old.expires != expires {
			return errWrittenAgain
		}
		return nil
	})
	// The item or its container has changed since.
	if errors.Is(err, errWrittenAgain) || errors.Is(err, errOwnerNotFound) || errors.Is(err, errRedefined) {
		return committed{}, nil
	}
	return done, err
}

var errWrittenAgain = errors.New("the item was written again")
