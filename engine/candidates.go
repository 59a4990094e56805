package engine

import (
	"bytes"
	"slices"
	"sort"

	"github.com/cockroachdb/pebble/v2"
)

// candidates are the items that a query examines, in an order that is stable from page to page.
type candidates interface {
	next() (*record, error) // nil at the end; valid until the next call, its text for longer
	more() bool             // whether another item follows; reads nothing
	position() []byte       // of the last item read; the next page continues after it
	close() error
}

// open starts reading after a position, or at the beginning if position is nil.
func (p plan) open(reader pebble.Reader, position []byte) (candidates, error) {
	if p.locators != nil {
		at, known := slices.BinarySearchFunc(p.locators, position, func(l locator, position []byte) int { return bytes.Compare(l, position) })
		if known {
			at++
		}
		return &pointCandidates{plan: p, reader: reader, at: at}, nil
	}
	it, err := reader.NewIter(&pebble.IterOptions{LowerBound: p.low, UpperBound: p.high})
	if err != nil {
		return nil, err
	}
	walk := &scannedCandidates{plan: p, reader: reader, it: it}
	if bytes.Compare(p.low, p.high) >= 0 && p.high != nil {
		return walk, nil // the conditions contradict each other
	}
	walk.begin(position)
	return walk, nil
}

// pointCandidates are items whose ids the query names. They are read one by one.
type pointCandidates struct {
	plan   plan
	reader pebble.Reader
	at     int // number of candidates read
	key    []byte
	record record
}

func (n *pointCandidates) next() (*record, error) {
	for n.more() {
		n.at++
		n.key = appendItemKey(n.key[:0], n.plan.container.number, n.plan.locators[n.at-1])
		if found, err := n.record.read(n.reader, n.key); found || err != nil {
			return &n.record, err
		}
	}
	return nil, nil
}

func (n *pointCandidates) more() bool   { return n.at < len(n.plan.locators) }
func (n *pointCandidates) close() error { return nil }

func (n *pointCandidates) position() []byte {
	if n.at == 0 {
		return nil
	}
	return n.plan.locators[n.at-1]
}

// scannedCandidates follow the keys of an index, or of the items themselves. If valid, the
// iterator is at the next key.
type scannedCandidates struct {
	plan   plan
	reader pebble.Reader
	it     *pebble.Iterator
	last   []byte // the last key read
	key    []byte // of the last item found through an index
	record record // the last one
	valid  bool
}

func (w *scannedCandidates) begin(position []byte) {
	switch {
	case position == nil && w.plan.backwards:
		w.valid = w.it.Last()
	case position == nil:
		w.valid = w.it.First()
	case w.plan.backwards:
		w.valid = w.it.SeekLT(position)
	default:
		w.valid = w.it.SeekGE(append(bytes.Clone(position), 0))
	}
	w.last = position
	w.skipOutside()
}

// skipOutside advances to the next item in the query's range, and of plan.only.
func (w *scannedCandidates) skipOutside() {
	for w.valid {
		if next := w.plan.seeks(w.it.Key()); next != nil {
			w.valid = w.it.SeekGE(next)
			continue
		}
		if r := w.plan.keyRange; r == nil || r.contains(w.it.Value()) {
			return
		}
		w.valid = w.it.Next()
	}
}

// seeks returns nil if a key is in one of plan.only, and otherwise where the next of them begins:
// at the end of the plan's keys if there is none.
func (p *plan) seeks(key []byte) []byte {
	if p.only == nil {
		return nil
	}
	at := sort.Search(len(p.only), func(i int) bool { return bytes.Compare(p.only[i].low, key) > 0 })
	switch {
	case at > 0 && bytes.Compare(key, p.only[at-1].high) < 0:
		return nil
	case at < len(p.only):
		return p.only[at].low
	}
	return p.high
}

func (w *scannedCandidates) next() (*record, error) {
	if !w.valid {
		return nil, w.it.Error()
	}
	w.last = append(w.last[:0], w.it.Key()...)
	if err := w.read(); err != nil {
		return nil, err
	}
	if w.plan.backwards {
		w.valid = w.it.Prev()
	} else {
		w.valid = w.it.Next()
	}
	w.skipOutside()
	return &w.record, nil
}

// read reads the record at the iterator's position.
func (w *scannedCandidates) read() error {
	held, err := w.it.ValueAndErr()
	if err != nil {
		return err
	}
	if !w.plan.indexed {
		return w.record.decode(held)
	}
	w.key = appendItemKey(w.key[:0], w.plan.container.number, held)
	found, err := w.record.read(w.reader, w.key)
	if err == nil && !found {
		err = errDamagedRecord // an index entry without an item
	}
	return err
}

func (w *scannedCandidates) more() bool       { return w.valid }
func (w *scannedCandidates) position() []byte { return bytes.Clone(w.last) }
func (w *scannedCandidates) close() error     { return w.it.Close() }
