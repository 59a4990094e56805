package httpapi

import (
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"cosmosblog/internal/limits"
)

// load is what validation has to go through, everything as often as it comes by it. It walks through every operation and
// every fragment, and from each through all fragments that are spread there. Each time it compares fields of one name, and
// all spreads, with one another, begins anew with each inline fragment, and writes values out that are of a wrong type.
type load struct {
	parts int // fields and spreads
	text  int // bytes of arguments, at least valueBytes for each value
}

func (l *load) add(parts, text int) {
	l.parts += parts
	l.text += text
}

// valueBytes is what a short value counts as: what is said of it when it is wrong is longer than itself.
const valueBytes = 64

// How many times as much as may be written validation may come by.
const (
	partsAgain = 4
	textAgain  = 2
)

// checkLoad holds a document to what validation may come by.
func checkLoad(document *ast.QueryDocument, l limits.Limits) *gqlerror.Error {
	switch found := loadOf(document); {
	case found.parts > partsAgain*l.Fields:
		return tooMuch(document.Position, "The query has more than %d fields and spreads, where those of a fragment count again for everything that it is a part of, and those of an inline fragment once more.",
			partsAgain*l.Fields)
	case found.text > textAgain*l.QueryBytes:
		return tooMuch(document.Position, "The query has more than %d bytes of arguments, where those of a fragment count again for everything that it is a part of, and those of an inline fragment once more.",
			textAgain*l.QueryBytes)
	}
	return nil
}

// loadOf counts what validation comes by.
func loadOf(document *ast.QueryDocument) load {
	fragments, all := map[string]sizes{}, []sizes{}
	for _, fragment := range document.Fragments {
		var s sizes
		s.count(fragment.SelectionSet, fragment.Directives, 1)
		if _, twice := fragments[fragment.Name]; !twice { // of several with one name, validation spreads the first
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
		total.add(s.load.parts, s.load.text)
		s.addBehind(&total, fragments, map[string]bool{})
	}
	return total
}

// addBehind adds what is in the fragments that something spreads, directly and through others, each once.
func (s sizes) addBehind(total *load, fragments map[string]sizes, seen map[string]bool) {
	for _, name := range s.spreads {
		if !seen[name] {
			seen[name] = true
			total.add(fragments[name].load.parts, fragments[name].load.text)
			fragments[name].addBehind(total, fragments, seen)
		}
	}
}

// textOf gives the bytes of arguments.
func textOf(arguments ast.ArgumentList) int {
	text := 0
	for _, argument := range arguments {
		text += textOfValue(argument.Value)
	}
	return text
}

func textOfValue(value *ast.Value) int {
	text := max(valueBytes, len(value.Raw))
	for _, child := range value.Children {
		text += textOfValue(child.Value)
	}
	return text
}
