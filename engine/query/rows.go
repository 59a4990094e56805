package query

import (
	"bytes"

	"cosmosblog/engine/value"
)

// Document is an item from a Source.
type Document struct {
	Text []byte      // the item's JSON, which is the row if the query selects whole items
	Root value.Value // the item, or the parts of it that Bound.Parse returns
}

// Source returns the next item; ok is false at the end. An error ends the query, and Rows.Next
// returns it.
type Source func() (doc Document, ok bool, err error)

// Progress is the position of a query between two runs. It holds the number of rows skipped for
// OFFSET and returned for TOP or LIMIT. If Rows sorts the documents, it also holds the sort key
// of the last one.
type Progress struct {
	Skipped int    `json:"skipped"`
	Taken   int    `json:"taken"`
	After   []byte `json:"after,omitempty"`
}

// Rows returns the results of a query one by one. It must not be used by several goroutines at
// once.
type Rows struct {
	results  results
	skip     int // number of results still to skip
	offset   int // total number of results to skip for OFFSET
	take     int
	most     int // maximum number of rows that the caller will read
	progress Progress
	cut      bool  // sorted documents were discarded
	err      error // error that ended the query

	loaded, loadedBytes int
}

// MaxRow is the maximum length of a row's JSON in bytes: that of a response page (limits page of
// Azure Cosmos DB).
const MaxRow = 4 << 20

// result is one result of the query with its JSON.
type result struct {
	value value.Value
	text  []byte
}

// results returns the next result, as Source returns documents.
type results func() (r result, ok bool, err error)

// Run evaluates the query over source. If sorted is true, source must be in the order of Order.
// Otherwise, Rows reads the whole source and sorts it.
//
// from is the Progress of the Rows to resume, or zero for a first run. If the query Streams and
// Rows does not sort, source must resume where it stopped. Otherwise source must start at its
// beginning, and Rows skips the rows that were already returned:
//
//   - If the query Streams, rows are skipped up to the sort key in from. Changes between the
//     runs then do not displace unchanged rows.
//   - Otherwise, rows are skipped by number. That is also the case if sorted differs between the
//     two runs.
func (b *Bound) Run(source Source, sorted bool, from Progress) *Rows {
	r := &Rows{offset: b.offset, take: b.take, most: unlimited, progress: from, skip: b.offset - from.Skipped}
	sorts := b.sorts(sorted)
	if !b.Streams() || sorts != (from.After != nil) {
		r.progress.Skipped, r.progress.After, r.skip = 0, nil, b.offset+from.Taken
	}
	if b.tree.collection == "" {
		source = noItem()
	}
	source = b.filtered(source, r)
	if sorts {
		source = b.ordered(source, r)
	}
	r.results = b.selected(source)
	return r
}

// Next returns the JSON text of the next result. The caller may keep the text but must not
// change it: a whole item is Document.Text itself. Next stops reading the source once TOP or
// LIMIT is reached.
//
// It returns an error of the source, ErrTooLarge or ErrNotFinite. Later calls return the same
// error.
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

// result returns the next result, including results to skip, and records an error.
func (r *Rows) result() (result, bool) {
	next, ok, err := r.results()
	r.err = err
	return next, ok && err == nil
}

// Progress returns the current position. A later Run resumes from it.
func (r *Rows) Progress() Progress { return r.progress }

// Loaded returns how many documents the service would have loaded so far, and the bytes of their
// texts: those that indexes of Bound.IndexedPaths find. Without these paths, it is all of the
// source.
func (r *Rows) Loaded() (documents, bytes int) { return r.loaded, r.loadedBytes }

// AtMost sets the maximum number of rows that the caller will read. It must be called before the
// first Next. If the query Streams and Rows sorts it, no more documents than that are kept. The
// rows may then end early; More reports it.
func (r *Rows) AtMost(rows int) { r.most = rows }

// More reports, after the last row, whether a later Run from Progress returns further rows.
func (r *Rows) More() bool { return r.cut && r.progress.Taken < r.take }

// wanted returns the number of sorted documents that suffice, if each of them yields a row.
func (r *Rows) wanted(b *Bound) int {
	wanted := min(r.most, r.take-r.progress.Taken)
	mayBeUndefined := b.tree.value && !b.tree.returnsItem()
	if mayBeUndefined || !b.Streams() || wanted > unlimited-r.skip {
		return unlimited
	}
	return max(r.skip+wanted, 0)
}

// noItem is the source of a query without FROM: one document without a value.
func noItem() Source {
	read := false
	return func() (Document, bool, error) {
		first := !read
		read = true
		return Document{}, first, nil
	}
}

// filtered drops the documents for which WHERE is not true, and counts those that are loaded.
func (b *Bound) filtered(source Source, r *Rows) Source {
	s := &scope{}
	isTrue := func(e evaluator, doc Document) (bool, error) {
		if e == nil {
			return true, nil
		}
		v, err := s.evaluate(e, doc.Root)
		return v.IsTrue(), err
	}
	return func() (Document, bool, error) {
		for {
			doc, ok, err := source()
			if err != nil || !ok {
				return Document{}, false, err
			}
			found, err := isTrue(b.indexed, doc)
			if err != nil {
				return doc, false, err
			}
			if !found {
				continue
			}
			r.loaded++
			r.loadedBytes += len(doc.Text)
			if kept, err := isTrue(b.filter, doc); err != nil || kept {
				return doc, err == nil, err
			}
		}
	}
}

// selected returns the results of the SELECT clause for the documents.
func (b *Bound) selected(source Source) results {
	var selected results
	switch {
	case b.tree.returnsItem():
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

// projected evaluates the selections for every document. SELECT VALUE of undefined yields no
// result.
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

// result evaluates the selections. ok is false if SELECT VALUE is undefined. It returns
// ErrTooLarge if a limit is exceeded, and ErrNotFinite if the result is no JSON.
func (b *Bound) result(s *scope, item value.Value) (r result, ok bool, err error) {
	v, err := s.evaluate(b.row, item)
	if err != nil || v.IsUndefined() {
		return result{}, false, err
	}
	s.text = value.AppendUpTo(s.text[:0], v, MaxRow)
	switch {
	case len(s.text) > MaxRow:
		return result{}, false, ErrTooLarge
	case s.noJSON && !v.IsFinite():
		return result{}, false, ErrNotFinite
	}
	return result{v, bytes.Clone(s.text)}, true, nil
}

// aggregated reads all documents and then returns at most one result.
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

// totals returns the results of the aggregates by slot.
func (b *Bound) totals(source Source) ([]value.Value, error) {
	accumulated := make([]total, len(b.aggregates))
	for i, a := range b.aggregates {
		accumulated[i] = aggregates[a.name]()
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
			accumulated[i].add(v)
		}
	}
	totals := make([]value.Value, len(accumulated))
	for i, t := range accumulated {
		totals[i] = t.result()
	}
	return totals, nil
}
