package query

import (
	"slices"

	"cosmosblog/engine/value"
)

// compileWhere compiles WHERE. Without an order, it separates the conjuncts that the service
// answers from its indexes before it loads an item: comparisons of a property with a scalar, IN,
// BETWEEN and IS_NULL, and what AND and OR make of them ("index seek" and "precise index scan" of
// learn.microsoft.com/azure/cosmos-db/index-overview#index-usage). The page says the same of some
// functions, such as STARTSWITH, whose charge also grows with the number of values; here, all items
// count as loaded for them.
func (b *Bound) compileWhere() {
	var indexed, others []expression
	for _, conjunct := range flatten(nil, b.where, "AND") {
		if paths, ok := indexedPaths(nil, conjunct); ok && !b.isOrdered() {
			indexed, b.indexedPaths = append(indexed, conjunct), append(b.indexedPaths, paths...)
		} else {
			others = append(others, conjunct)
		}
	}
	b.indexed, b.filter = compileAnd(indexed), compileAnd(others)
}

// compileAnd compiles the conjunction of expressions, or returns nil if there are none.
func compileAnd(operands []expression) evaluator {
	switch len(operands) {
	case 0:
		return nil
	case 1:
		return operands[0].compile()
	}
	return (&infix{operators: slices.Repeat([]string{"AND"}, len(operands)-1), operands: operands}).compile()
}

// indexedPaths appends the properties of an expression, each once in a row, to paths. ok is false
// if indexes alone do not answer it.
func indexedPaths(paths [][]string, e expression) (all [][]string, ok bool) {
	switch e := e.(type) {
	case *infix:
		ok = e.operators[0] == "AND" || e.operators[0] == "OR"
		for i := 0; ok && i < len(e.operands); i++ {
			paths, ok = indexedPaths(paths, e.operands[i])
		}
		return paths, ok
	case *comparison:
		if _, isKnown := conditionOps[e.operator]; !isKnown {
			return paths, false
		}
		if _, isLiteral := e.left.(*literal); isLiteral {
			return indexedPath(paths, e.right, e.left)
		}
		return indexedPath(paths, e.left, e.right)
	case *between:
		if !e.not {
			return indexedPath(paths, e.operand, e.low, e.high)
		}
	case *membership:
		if !e.not {
			return indexedPath(paths, e.needle, e.list...)
		}
	case *call:
		if e.name == "IS_NULL" {
			return indexedPath(paths, e.arguments[0])
		}
	}
	return paths, false
}

// indexedPath appends the path of a property. ok is false if it is none, or if it is compared with
// anything but scalars.
func indexedPath(paths [][]string, operand expression, with ...expression) (all [][]string, ok bool) {
	p, ok := operand.(*property)
	if !ok {
		return paths, false
	}
	for _, e := range with {
		l, isLiteral := e.(*literal)
		if !isLiteral || l.value.Kind() == value.KindArray || l.value.Kind() == value.KindObject {
			return paths, false
		}
	}
	if n := len(paths); n == 0 || !slices.Equal(paths[n-1], p.path) {
		paths = append(paths, p.path)
	}
	return paths, true
}
