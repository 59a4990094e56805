package embedded

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"

	"cosmosblog/store/embedded/query"
)

// query runs a query inside the transaction. Whether it sees what the transaction wrote is the engine's option; what the
// transaction deleted it never sees.
//
// Where all rows are made before the first is given, those of later pages are kept: made again, they would lack what the
// transaction deleted meanwhile, and a continuation that counts the rows that were given would pass over as many.
func (t *transaction) query(bound *query.Bound, from continuation, size int) (page, error) {
	if p, ok := t.unread[string(from.Position)]; ok {
		return t.cut(p, from.Progress, size), nil
	}
	plan, err := t.container.plan(bound, scope{partition: &t.partition})
	if err != nil {
		return page{}, err
	}
	pages := pager{ctx: t.ctx, bound: bound, along: plan.along(), sorted: plan.sorted, now: t.now, size: size}
	open := func(position []byte) (candidates, error) {
		committed, err := plan.open(t.engine.db, position)
		return &withoutDeleted{committed, t}, err
	}
	if t.engine.options.QueriesSeeOwnWrites {
		pages.along, pages.sorted = "own", len(bound.Order()) == 0
		open = func(position []byte) (candidates, error) {
			all := t.overlay(position, allItems)
			return all, all.err
		}
	}
	streams := bound.Streams() && pages.sorted
	if !streams {
		pages.size = allItems
	}
	p, err := pages.page(from, open)
	if !t.container.isCurrent() {
		return p, errRedefined // what it walked along may have been taken away
	}
	t.charge += queryCharge(1, p.loaded, p.loadedBytes)
	if err != nil || streams {
		return p, err
	}
	return t.cut(p, from.Progress, size), nil
}

// cut makes a page of p's first rows and keeps the others, under the position in the page's continuation. A later
// transaction, which does not know that position, finds in the continuation how many rows were given.
func (t *transaction) cut(p page, given query.Progress, size int) page {
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
	if t.unread == nil {
		t.unread = map[string]page{}
	}
	t.unread[string(position)] = page{rows: p.rows[n:], next: p.next}
	return page{rows: p.rows[:n], next: &continuation{Position: position, Progress: given}}
}

// withoutDeleted leaves out of the committed items those that a transaction deleted.
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
			w.t.seen.add(stored)
			return stored, nil
		}
	}
}

// overlaid are the items of a partition as a transaction sees them, its own writes included, in the order of their ids.
type overlaid struct {
	seen     *seenRecords
	records  []*record
	locators []locator
	at       int
	err      error
}

// allItems asks overlay for everything.
const allItems = math.MaxInt

// overlay gives the items after a position, at most so many.
func (t *transaction) overlay(position []byte, most int) *overlaid {
	o := &overlaid{seen: &t.seen}
	prefix := containerKey(spaceItem, t.container.number)
	bounds := within(itemKey(t.container.number, t.partition.prefix))
	if position != nil {
		bounds.LowerBound = append(itemKey(t.container.number, position), 0)
	}
	it, err := t.engine.db.NewIter(bounds)
	if err != nil {
		return &overlaid{err: err}
	}
	written := t.writtenLocators()
	for it.First(); it.Valid() && o.err == nil && len(o.records) < most; it.Next() {
		l := locator(bytes.Clone(it.Key()[len(prefix):]))
		for len(written) > 0 && bytes.Compare(written[0], l) < 0 {
			o.addWritten(t, written[0], position)
			written = written[1:]
		}
		if len(written) > 0 && bytes.Equal(written[0], l) {
			continue // the transaction's own state of it comes in its turn
		}
		stored, err := decodeRecord(it.Value())
		o.add(stored, l, position, t.now)
		o.err = err
	}
	for _, l := range written {
		if len(o.records) < most {
			o.addWritten(t, l, position)
		}
	}
	o.err = errors.Join(o.err, it.Close())
	return o
}

// writtenLocators gives the places of what the transaction changed, in order.
func (t *transaction) writtenLocators() []locator {
	byID := map[string]locator{}
	for id, c := range t.changes {
		byID[id] = c.locator
	}
	return sorted(byID)
}

func (o *overlaid) addWritten(t *transaction, l locator, position []byte) {
	o.add(t.changes[t.partition.idOf(l)].new, l, position, t.now)
}

func (o *overlaid) add(stored *record, l locator, position []byte, now int64) {
	if stored != nil && !stored.expired(now) && bytes.Compare(l, position) > 0 {
		o.records, o.locators = append(o.records, stored), append(o.locators, l)
	}
}

func (o *overlaid) next() (*record, error) {
	if !o.more() {
		return nil, nil
	}
	o.at++
	o.seen.add(o.records[o.at-1])
	return o.records[o.at-1], nil
}

func (o *overlaid) more() bool { return o.at < len(o.records) }

func (o *overlaid) position() []byte {
	if o.at == 0 {
		return nil
	}
	return o.locators[o.at-1]
}

func (o *overlaid) close() error { return nil }
