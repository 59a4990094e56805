package query

import (
	"slices"

	"cosmosblog/store/embedded/value"
)

// minimumIndexed is how many arms an OR has at least before an index of them is worth making.
const minimumIndexed = 8

// compileOr makes OR of its compiled arms. A read of many items sends up to a thousand, (c.id = @a AND c.pk = @b) OR …,
// of which an item can satisfy those with its own id only: where every arm asks for a string in one and the same
// property, the arms are found by that string. An arm that asks for another string is false, whatever else it asks for.
func compileOr(arms []expression, compiled []evaluator) evaluator {
	whole := func(s *scope) value.Value { return logical(s, compiled, true) }
	if len(arms) < minimumIndexed {
		return whole
	}
	for _, conjunct := range conjuncts(nil, arms[0]) {
		key, _, ok := stringEquality(conjunct)
		if !ok {
			continue
		}
		if index, ok := indexArms(key, arms, compiled); ok {
			return compileIndexed(key.compile(), index, whole)
		}
	}
	return whole
}

// stringEquality reads a comparison of a property with a string.
func stringEquality(e expression) (p *property, text string, ok bool) {
	c, isComparison := e.(*comparison)
	if !isComparison || c.operator != "=" {
		return nil, "", false
	}
	p, isProperty := c.left.(*property)
	l, isLiteral := c.right.(*literal)
	if !isProperty || !isLiteral {
		return nil, "", false
	}
	text, ok = l.value.AsString()
	return p, text, ok
}

// indexArms groups the arms of an OR by the string that each asks for in the property key, where each does.
func indexArms(key *property, arms []expression, compiled []evaluator) (map[string][]evaluator, bool) {
	index := make(map[string][]evaluator, len(arms))
	var all []expression
	for i, arm := range arms {
		all = conjuncts(all[:0], arm)
		asks := slices.IndexFunc(all, func(e expression) bool {
			p, _, ok := stringEquality(e)
			return ok && slices.Equal(p.path, key.path)
		})
		if asks < 0 {
			return nil, false
		}
		_, text, _ := stringEquality(all[asks])
		index[text] = append(index[text], compiled[i])
	}
	return index, true
}

// compileIndexed evaluates the arms of the key's string, and the whole OR where the key is no string.
func compileIndexed(key evaluator, index map[string][]evaluator, whole evaluator) evaluator {
	return func(s *scope) value.Value {
		text, ok := key(s).AsString()
		if !ok {
			return whole(s)
		}
		return logical(s, index[text], true)
	}
}
