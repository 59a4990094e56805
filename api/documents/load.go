package documents

import (
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"cosmosblog/api/documents/syntax"
	"cosmosblog/guard/limits"
)

// load is the work that validation does for a document. Each part counts as often as validation
// visits it.
//
// Validation walks every operation and every fragment, and from each of them all fragments spread
// there. On each walk, it compares all fields of one name, and all spreads, with one another. It
// starts again at each inline fragment, and it prints values of a wrong type.
type load struct {
	parts int // fields and spreads
	bytes int // of arguments, at least minValueBytes per value
}

func (l *load) add(parts, bytes int) {
	l.parts += parts
	l.bytes += bytes
}

// minValueBytes is the minimum size for which a value counts, because the error about a short
// value is longer than the value.
const minValueBytes = 64

// The limits of a document's load, as multiples of the limits of its text.
const (
	partsFactor = 4 // of Limits.Fields
	bytesFactor = 2 // of Limits.QueryBytes
)

// checkLoad checks a document against the limits of validation's work.
func checkLoad(document *ast.QueryDocument, l limits.Limits) *gqlerror.Error {
	const counting = "Those of a fragment count each time it is spread, and once more per inline fragment around them."
	switch found := loadOf(document); {
	case found.parts > partsFactor*l.Fields:
		return syntax.AboveLimit(document.Position, "The query has more than %d fields and spreads. %s", partsFactor*l.Fields, counting)
	case found.bytes > bytesFactor*l.QueryBytes:
		return syntax.AboveLimit(document.Position, "The query has more than %d bytes of arguments. %s", bytesFactor*l.QueryBytes, counting)
	}
	return nil
}

func loadOf(document *ast.QueryDocument) load {
	fragments, all := map[string]sizes{}, []sizes{}
	for _, fragment := range document.Fragments {
		var s sizes
		s.count(fragment.SelectionSet, fragment.Directives, 1)
		if _, duplicate := fragments[fragment.Name]; !duplicate { // if a name repeats, validation spreads the first
			fragments[fragment.Name] = s
		}
		all = append(all, s)
	}
	for _, operation := range document.Operations {
		var s sizes
		s.count(operation.SelectionSet, operation.Directives, 1)
		all = append(all, s)
	}
	var total load
	for _, s := range all {
		total.add(s.load.parts, s.load.bytes)
		s.addSpreads(&total, fragments, map[string]bool{})
	}
	return total
}

// addSpreads adds the load of the fragments that s spreads, directly and through others, each once.
func (s sizes) addSpreads(total *load, fragments map[string]sizes, seen map[string]bool) {
	for _, name := range s.spreads {
		if !seen[name] {
			seen[name] = true
			total.add(fragments[name].load.parts, fragments[name].load.bytes)
			fragments[name].addSpreads(total, fragments, seen)
		}
	}
}

// argumentBytes returns the size of arguments, at least minValueBytes per value.
func argumentBytes(arguments ast.ArgumentList) int {
	bytes := 0
	for _, argument := range arguments {
		bytes += valueBytes(argument.Value)
	}
	return bytes
}

func valueBytes(value *ast.Value) int {
	bytes := max(minValueBytes, len(value.Raw))
	for _, child := range value.Children {
		bytes += valueBytes(child.Value)
	}
	return bytes
}
