package query

import (
	"bytes"
	"slices"

	"cosmosblog/store/embedded/value"
)

// orderedDocument is a document with the key that it is sorted by.
type orderedDocument struct {
	key      []byte
	document Document
}

// ordered reads all of a source and gives it in the order of ORDER BY, and in that of the ids where it leaves it open: what
// comes after the key in the progress, which is set to that of each document that is given.
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

// maxAfter is how long a key may be in a Progress, which travels in a header; of a longer one the rows are counted.
const maxAfter = 4 << 10

// minimumSorted is how many documents are gathered at least before surplus ones are thrown away.
const minimumSorted = 256

// sort reads all of source. Where the first so many are wanted only, the others are thrown away on the way, and cut is true.
func (b *Bound) sort(source Source, after []byte, wanted int) (documents []orderedDocument, cut bool, err error) {
	first := func() {
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
			first()
			return documents, cut, nil
		}
		key := b.key(doc)
		if after != nil && bytes.Compare(key, after) <= 0 {
			continue
		}
		documents = append(documents, orderedDocument{key, doc})
		if len(documents)/2 >= max(wanted, minimumSorted) {
			first()
		}
	}
}

func byKey(x, y orderedDocument) int { return bytes.Compare(x.key, y.key) }

// key is a document's place in the order: no two documents of one partition have the same.
func (b *Bound) key(doc Document) []byte {
	key := make([]byte, 0, 64)
	for _, item := range b.tree.order {
		key = value.AppendKey(key, doc.Root.Path(item.Path...), item.Descending)
	}
	id, _ := doc.Root.Get("id").AsString()
	return append(key, id...)
}
