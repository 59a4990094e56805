package query

import (
	"bytes"
	"slices"

	"cosmosblog/engine/value"
)

// orderedDocument is a document with its sort key.
type orderedDocument struct {
	key      []byte
	document Document
}

// ordered reads the whole source and returns its documents in the order of ORDER BY, ties
// ordered by id. It skips documents up to the key in r.progress, and sets that key with each
// document it returns.
func (b *Bound) ordered(source Source, r *Rows) Source {
	var sorted []orderedDocument
	read := false
	return func() (Document, bool, error) {
		if !read {
			var err error
			if sorted, r.cut, err = b.sort(source, r.progress.After, r.wanted(b)); err != nil {
				return Document{}, false, err
			}
			read = true
		}
		if len(sorted) == 0 {
			return Document{}, false, nil
		}
		first := sorted[0]
		sorted = sorted[1:]
		if r.progress.After = first.key; len(first.key) > maxAfter {
			r.progress.After = nil
		}
		return first.document, true, nil
	}
}

// maxAfter is the maximum length of a key in a Progress, which is sent in a header. If the key
// is longer, rows are counted instead.
const maxAfter = 4 << 10

// minimumSorted is the minimum number of documents collected before surplus ones are discarded.
const minimumSorted = 256

// sort reads the whole source. If only some documents are wanted, it discards the others while
// reading and sets cut.
func (b *Bound) sort(source Source, after []byte, wanted int) (documents []orderedDocument, cut bool, err error) {
	keepFirst := func() {
		slices.SortStableFunc(documents, byKey)
		if len(documents) > wanted {
			clear(documents[wanted:])
			documents, cut = documents[:wanted], true
		}
	}
	for {
		doc, ok, err := source()
		if err != nil {
			return nil, false, err
		}
		if !ok {
			keepFirst()
			return documents, cut, nil
		}
		key := b.key(doc)
		if after != nil && bytes.Compare(key, after) <= 0 {
			continue
		}
		documents = append(documents, orderedDocument{key, doc})
		if len(documents)/2 >= max(wanted, minimumSorted) {
			keepFirst()
		}
	}
}

func byKey(x, y orderedDocument) int { return bytes.Compare(x.key, y.key) }

// key returns the sort key of a document. Two documents of one partition never have the same
// key, because the key includes the id.
func (b *Bound) key(doc Document) []byte {
	key := make([]byte, 0, 64)
	for _, item := range b.tree.order {
		key = value.AppendKey(key, doc.Root.Path(item.Path...), item.Descending)
	}
	id, _ := doc.Root.Get("id").AsString()
	return append(key, id...)
}
