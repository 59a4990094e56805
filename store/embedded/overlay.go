package embedded

import (
	"bytes"
	"errors"
	"math"

	"cosmosblog/store/embedded/query"
)

// query runs a query inside the transaction. Whether it sees what the transaction wrote is the engine's option; what the
// transaction deleted it never sees.
func (t *transaction) query(bound *query.Bound, from continuation, size int) (page, error) {
	plan, err := t.container.plan(bound, scope{partition: &t.partition})
	if err != nil {
		return page{}, err
	}
	pages := pager{ctx: t.ctx, bound: bound, sorted: plan.sorted, now: t.now, size: size}
	open := func(position []byte) (candidates, error) {
		committed, err := plan.open(t.engine.db, position)
		return &withoutDeleted{committed, t}, err
	}
	if t.engine.options.QueriesSeeOwnWrites {
		pages.sorted = len(bound.Order()) == 0
		open = func(position []byte) (candidates, error) {
			all := t.overlay(position, allItems)
			return all, all.err
		}
	}
	p, err := pages.page(from, open)
	t.charge += queryCharge(1, p.loaded, p.loadedBytes)
	return p, err
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
