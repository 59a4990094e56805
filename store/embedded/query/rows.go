package query

import (
	"bytes"

	"cosmosblog/store/embedded/value"
)

// Document is an item as a source gives it.
type Document struct {
	Text []byte // the item's JSON, which is the row of SELECT *
	Root value.Value
}

// Source gives one item after another, then ok is false. An error ends the query, whose Next returns it.
type Source func() (doc Document, ok bool, err error)

// Progress is how far OFFSET and TOP or LIMIT have come: how many rows were skipped, and how many were given; and, where the
// rows are sorted here, after which key of a document it goes on.
type Progress struct {
	Skipped int    `json:"skipped"`
	Taken   int    `json:"taken"`
	After   []byte `json:"after,omitempty"`
}

// Rows gives a query's results one by one. It is for one goroutine.
type Rows struct {
	results  results
	skip     int // how many results are still to be passed over
	offset   int // how many of those that are passed over are OFFSET's, in all
	take     int
	most     int // rows that will be asked for
	progress Progress
	cut      bool  // documents that were sorted were thrown away
	err      error // that ended the query
}

// MaxRow is how long the JSON of a row may be, in bytes: no longer than a response page (limits page of Azure Cosmos DB).
const MaxRow = 4 << 20

// result is one value that the query gives, and its JSON.
type result struct {
	value value.Value
	text  []byte
}

// results gives one result after another, as a Source gives documents.
type results func() (r result, ok bool, err error)

// Run evaluates the query over source. sorted says that the source is in the order of Order already; otherwise Rows
// reads all of it and sorts.
//
// from is the Progress of the Rows that this run goes on with, zero for a first run. Where the query Streams and there
// is no sorting to be done, source must go on where it stopped. Otherwise source must begin at its beginning, and the
// rows that were given already are left out: where the query Streams they are known by the key that is in from, so that
// what changed meanwhile does not displace what did not; otherwise, or where the earlier run was given a sorted source and
// this one is not, or the other way round, they are counted.
func (b *Bound) Run(source Source, sorted bool, from Progress) *Rows {
	r := &Rows{offset: b.offset, take: b.take, most: unlimited, progress: from, skip: b.offset - from.Skipped}
	sorts := len(b.tree.order) > 0 && !sorted
	if !b.Streams() || sorts != (from.After != nil) {
		r.progress.Skipped, r.progress.After, r.skip = 0, nil, b.offset+from.Taken
	}
	if b.tree.collection == "" {
		source = nothing()
	}
	source = b.filtered(source)
	if sorts {
		source = b.ordered(source, r)
	}
	r.results = b.selected(source)
	return r
}

// Next gives the JSON text of the next result, which the caller may keep and must not change: SELECT * gives
// Document.Text itself. It does not read the source once TOP or LIMIT is reached. Errors: the source's and ErrTooLarge,
// again and again.
func (r *Rows) Next() (row []byte, ok bool, err error) {
	if r.err != nil || r.progress.Taken >= r.take {
		return nil, false, r.err
	}
	for ; r.skip > 0; r.skip-- {
		if _, ok := r.result(); !ok {
			return nil, false, r.err
		}
		r.progress.Skipped = min(r.progress.Skipped+1, r.offset)
	}
	next, ok := r.result()
	if !ok {
		return nil, false, r.err
	}
	r.progress.Taken++
	return next.text, true, nil
}

// result gives the next result, skipped ones too, and keeps an error.
func (r *Rows) result() (result, bool) {
	next, ok, err := r.results()
	r.err = err
	return next, ok && err == nil
}

// Progress tells how far the rows have come, to go on from there with a later Run.
func (r *Rows) Progress() Progress { return r.progress }

// AtMost says before the first Next how many rows will be asked for, so that a query that Streams and is sorted here need
// not keep more documents than that. The rows may then end with these: More tells.
func (r *Rows) AtMost(rows int) { r.most = rows }

// More tells after the last row whether a later Run, from Progress, has others.
func (r *Rows) More() bool { return r.cut && r.progress.Taken < r.take }

// wanted is how many sorted documents suffice, where each of them gives a row.
func (r *Rows) wanted(b *Bound) int {
	wanted := min(r.most, r.take-r.progress.Taken)
	maybe := b.tree.value && b.tree.selections[0].expression != item{} // SELECT VALUE of what may be undefined
	if maybe || !b.Streams() || wanted > unlimited-r.skip {
		return unlimited
	}
	return max(r.skip+wanted, 0)
}

// nothing is the source of a query without FROM: one document, of which it knows no name.
func nothing() Source {
	given := false
	return func() (Document, bool, error) {
		first := !given
		given = true
		return Document{}, first, nil
	}
}

// filtered leaves out what WHERE does not keep.
func (b *Bound) filtered(source Source) Source {
	if b.filter == nil {
		return source
	}
	s := &scope{}
	return func() (Document, bool, error) {
		for {
			doc, ok, err := source()
			if err != nil || !ok {
				return Document{}, false, err
			}
			kept, err := s.evaluate(b.filter, doc.Root)
			if err != nil || kept.IsTrue() {
				return doc, err == nil, err
			}
		}
	}
}

// selected makes results of documents.
func (b *Bound) selected(source Source) results {
	var selected results
	switch {
	case b.tree.star:
		selected = func() (result, bool, error) {
			doc, ok, err := source()
			return result{value: doc.Root, text: doc.Text}, ok, err
		}
	case b.tree.aggregates > 0:
		selected = b.aggregated(source)
	default:
		selected = b.projected(source)
	}
	if b.tree.distinct {
		return distinct(selected)
	}
	return selected
}

// projected evaluates the selections for every document. SELECT VALUE of what is undefined gives no result.
func (b *Bound) projected(source Source) results {
	s := &scope{}
	return func() (result, bool, error) {
		for {
			doc, ok, err := source()
			if err != nil || !ok {
				return result{}, false, err
			}
			if r, ok, err := b.result(s, doc.Root); ok || err != nil {
				return r, ok, err
			}
		}
	}
}

// result evaluates the selections; ok is false where SELECT VALUE is undefined. Error: ErrTooLarge.
func (b *Bound) result(s *scope, item value.Value) (r result, ok bool, err error) {
	v, err := s.evaluate(b.row, item)
	if err != nil || v.IsUndefined() {
		return result{}, false, err
	}
	s.text = value.AppendUpTo(s.text[:0], v, MaxRow)
	if len(s.text) > MaxRow {
		return result{}, false, ErrTooLarge
	}
	return result{v, bytes.Clone(s.text)}, true, nil
}

// aggregated reads all documents and then gives one result, or none.
func (b *Bound) aggregated(source Source) results {
	ended := false
	return func() (result, bool, error) {
		if ended {
			return result{}, false, nil
		}
		ended = true
		totals, err := b.totals(source)
		if err != nil {
			return result{}, false, err
		}
		return b.result(&scope{totals: totals}, value.Undefined)
	}
}

// totals are the results of the aggregates by their slots.
func (b *Bound) totals(source Source) ([]value.Value, error) {
	gathered := make([]total, len(b.aggregates))
	for i, a := range b.aggregates {
		gathered[i] = aggregates[a.name]()
	}
	for s := (&scope{}); ; {
		doc, ok, err := source()
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		for i, argument := range b.arguments {
			v, err := s.evaluate(argument, doc.Root)
			if err != nil {
				return nil, err
			}
			gathered[i].add(v)
		}
	}
	totals := make([]value.Value, len(gathered))
	for i, t := range gathered {
		totals[i] = t.result()
	}
	return totals, nil
}
