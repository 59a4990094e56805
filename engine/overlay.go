package engine

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"

	"github.com/cockroachdb/pebble/v2"

	"cosmosblog/engine/query"
)

// query executes a query inside the transaction. Options.QueriesSeeOwnWrites decides whether it
// sees the transaction's writes. It never sees items that the transaction deleted.
//
// If the query must compute all rows before the first page, the transaction keeps the rows of
// later pages. If those rows were computed again, items that the transaction has deleted since
// would be missing from them. A continuation that counts returned rows would then skip too many.
func (t *transaction) query(ctx context.Context, bound *query.Bound, from continuation, size int) (page, error) {
	if p, ok := t.pendingPages[string(from.Position)]; ok {
		return t.firstPage(p, from.Progress, size), nil
	}
	plan, err := t.container.plan(bound, scope{partition: &t.partition})
	if err != nil {
		return page{}, err
	}
	pages := pager{ctx: ctx, bound: bound, planID: plan.planID(), sorted: plan.sorted, indexed: t.container.answersByIndexes(bound), now: t.now, size: size}
	open := func(position []byte) (candidates, error) {
		committed, err := plan.open(t.reader, position)
		if err != nil || !t.deletes() {
			return committed, err
		}
		return &withoutDeleted{committed, t}, nil
	}
	if t.engine.options.QueriesSeeOwnWrites {
		pages.planID, pages.sorted = "own", len(bound.Order()) == 0
		open = func(position []byte) (candidates, error) {
			return t.overlay(position)
		}
	}
	streams := bound.Streams() && pages.sorted
	if !streams {
		pages.size = math.MaxInt
	}
	p, err := pages.page(from, open)
	if !t.container.isCurrent() {
		return p, errRedefined // the scanned index may have been removed
	}
	t.charge += queryCharge(1, p.loaded, p.loadedBytes)
	if err != nil || streams {
		return p, err
	}
	return t.firstPage(p, from.Progress, size), nil
}

// firstPage returns a page with p's first rows and keeps the rest, under the position in the
// page's continuation. A later transaction does not have the kept rows; it uses the count of
// returned rows in the continuation.
func (t *transaction) firstPage(p page, given query.Progress, size int) page {
	n, bytes := 0, 0
	for n < len(p.rows) && n < size && bytes <= maxPageBytes {
		bytes += len(p.rows[n])
		n++
	}
	if n == len(p.rows) {
		return p
	}
	position := binary.BigEndian.AppendUint64(nil, t.engine.nextSerial())
	given.Taken += n
	if t.pendingPages == nil {
		t.pendingPages = map[string]page{}
	}
	t.pendingPages[string(position)] = page{rows: p.rows[n:], next: p.next}
	return page{rows: p.rows[:n], next: &continuation{Position: position, Progress: given}}
}

// deletes reports whether the transaction has deleted an item.
func (t *transaction) deletes() bool {
	for _, c := range t.changes {
		if c.new == nil {
			return true
		}
	}
	return false
}

// withoutDeleted are the committed items except those that a transaction deleted.
type withoutDeleted struct {
	candidates
	t *transaction
}

func (w *withoutDeleted) next() (*record, error) {
	for {
		stored, err := w.candidates.next()
		if stored == nil || err != nil {
			return stored, err
		}
		root, err := stored.value()
		if err != nil {
			return nil, err
		}
		id, _ := root.Get("id").AsString()
		if c, ok := w.t.changes[id]; !ok || c.new != nil {
			return stored, nil
		}
	}
}

// overlaid are the items of a partition as a transaction sees them, including its own writes, in
// id order.
type overlaid struct {
	t       *transaction
	it      *pebble.Iterator // of the committed items
	written []locator        // changed by the transaction and not reached yet
	record  *record          // the next one; nil at the end
	at      locator          // of the next one
	last    locator          // of the last one read
	err     error
}

// overlay returns the items after a position.
func (t *transaction) overlay(position []byte) (*overlaid, error) {
	it, err := t.reader.NewIter(within(itemKey(t.container.number, t.partition.prefix)))
	if err != nil {
		return nil, err
	}
	if position == nil {
		it.First()
	} else {
		it.SeekGE(append(itemKey(t.container.number, position), 0))
	}
	o := &overlaid{t: t, it: it, written: t.writtenLocators(), last: position}
	for len(o.written) > 0 && bytes.Compare(o.written[0], position) <= 0 {
		o.written = o.written[1:]
	}
	o.advance()
	return o, nil
}

// writtenLocators returns the locators of the items that the transaction changed, in order.
func (t *transaction) writtenLocators() []locator {
	var written []locator
	for _, c := range sorted(t.changes) {
		written = append(written, c.locator)
	}
	return written
}

// advance advances to the next existing item.
func (o *overlaid) advance() {
	for o.record = nil; o.record == nil && o.err == nil; {
		var l locator
		if o.it.Valid() {
			l = o.it.Key()[len(containerKey(spaceItem, 0)):]
		}
		own := len(o.written) > 0 && (l == nil || bytes.Compare(o.written[0], l) <= 0)
		switch {
		case own:
			o.at, o.record = o.written[0], o.t.changes[o.t.partition.idOf(o.written[0])].new
			o.written = o.written[1:]
		case l == nil:
			o.err = o.it.Error()
			return
		default:
			o.at = bytes.Clone(l)
			o.record, o.err = decodeRecord(o.it.Value())
		}
		if bytes.Equal(l, o.at) {
			o.it.Next()
		}
		if o.record != nil && o.record.expired(o.t.now) {
			o.record = nil
		}
	}
}

func (o *overlaid) next() (*record, error) {
	next := o.record
	if next != nil {
		o.last = o.at
		o.advance()
	}
	return next, o.err
}

func (o *overlaid) more() bool       { return o.record != nil }
func (o *overlaid) position() []byte { return o.last }
func (o *overlaid) close() error     { return o.it.Close() }
