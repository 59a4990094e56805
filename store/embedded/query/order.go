package query

import (
	"slices"

	"cosmosblog/store/embedded/value"
)

// ordered reads all of a source and gives it in the order of ORDER BY; documents that are equal in it keep their order.
func (b *Bound) ordered(source Source) Source {
	var sorted []orderedDocument
	read := false
	return func() (Document, bool, error) {
		if !read {
			var err error
			if sorted, err = b.sort(source); err != nil {
				return Document{}, false, err
			}
			read = true
		}
		if len(sorted) == 0 {
			return Document{}, false, nil
		}
		first := sorted[0].document
		sorted = sorted[1:]
		return first, true, nil
	}
}

// orderedDocument is a document with the values that it is sorted by.
type orderedDocument struct {
	keys     []value.Value
	document Document
}

// minimumSorted is how many documents are gathered at least before surplus ones are thrown away.
const minimumSorted = 256

// sort reads all of source. Where the first so many are wanted only, the others are thrown away on the way.
func (b *Bound) sort(source Source) ([]orderedDocument, error) {
	wanted := b.wanted()
	var documents []orderedDocument
	for {
		doc, ok, err := source()
		if err != nil {
			return nil, err
		}
		if !ok {
			slices.SortStableFunc(documents, b.compare)
			return documents, nil
		}
		documents = append(documents, orderedDocument{b.keys(doc), doc})
		if len(documents)/2 >= max(wanted, minimumSorted) {
			slices.SortStableFunc(documents, b.compare)
			clear(documents[wanted:])
			documents = documents[:wanted]
		}
	}
}

// wanted is how many sorted documents suffice for OFFSET and TOP or LIMIT, where each of them gives a row.
func (b *Bound) wanted() int {
	if b.take == unlimited || b.tree.distinct || b.tree.value {
		return unlimited
	}
	return b.offset + b.take
}

func (b *Bound) keys(doc Document) []value.Value {
	s := &scope{item: doc.Root}
	keys := make([]value.Value, len(b.order))
	for i, key := range b.order {
		keys[i] = key(s)
	}
	return keys
}

func (b *Bound) compare(x, y orderedDocument) int {
	for i, item := range b.tree.order {
		if c := value.Compare(x.keys[i], y.keys[i]); c != 0 {
			if item.Descending {
				return -c
			}
			return c
		}
	}
	return 0
}
