package embedded

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"log/slog"
	"sync"
	"time"
)

// purgeEvery is how often expired items are removed. It matters to nobody but the disk: an expired item shows nowhere.
const purgeEvery = time.Minute

// sealEvery is how often the seal of an open folder is renewed, where something was written: what is written in between
// is not looked for after a crash.
const sealEvery = time.Second

// housekeeping are the goroutines of an engine.
type housekeeping struct {
	cancel context.CancelFunc
	done   *sync.WaitGroup
}

func startHousekeeping(e *Engine) housekeeping {
	ctx, cancel := context.WithCancel(context.Background())
	h := housekeeping{cancel, &sync.WaitGroup{}}
	h.every(ctx, purgeEvery, "purge", func() error { _, err := e.Purge(ctx); return err })
	if e.disk != nil {
		h.every(ctx, sealEvery, "seal", e.disk.renewSeal)
	}
	return h
}

func (h housekeeping) every(ctx context.Context, interval time.Duration, name string, work func() error) {
	h.done.Go(func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			if err := work(); err != nil && ctx.Err() == nil && !errors.Is(err, ErrDisk) {
				slog.Error("embedded engine: "+name, "error", err)
			}
		}
	})
}

func (h housekeeping) end() {
	h.cancel()
	h.done.Wait()
}

// Purge removes the items that have expired, and tells how many. Like the service's, it leaves no trace in the change
// feed.
// Errors: those of single items, joined; ErrClosed.
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
	var gone []committed // and not known to be on disk
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
		if len(gone) == purgedAtOnce {
			wait()
		}
	}
	wait()
	return removed, errors.Join(err, ctx.Err())
}

// purgedAtOnce is how many items are removed before the disk is waited for.
const purgedAtOnce = 100

// purgeItem removes an item that expired at a second, unless it was written again since.
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
	if errors.Is(err, errWrittenAgain) || errors.Is(err, errOwnerNotFound) || errors.Is(err, errRedefined) { // or its container is gone or another
		return committed{}, nil
	}
	return done, err
}

var errWrittenAgain = errors.New("the item was written again")
