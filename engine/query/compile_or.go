package query

import (
	"slices"

	"cosmosblog/engine/value"
)

// minimumIndexed is the minimum number of arms for which OR uses an index.
const minimumIndexed = 8

// compileOr compiles OR from its compiled arms.
//
// A read of many items sends up to a thousand arms, (c.id = @a AND c.pk = @b) OR …, and an item
// can satisfy only those with its own id. If every arm compares the same property with a string,
// the arms are therefore indexed by that string. An arm that compares with another string is
// false, regardless of its other conditions.
func compileOr(arms []expression, compiled []evaluator) evaluator {
	whole := func(s *scope) value.Value { return logical(s, compiled, true) }
	if len(arms) < minimumIndexed {
		return whole
	}
	required := make([][]Condition, len(arms))
	for i, arm := range arms {
		required[i] = conditions(arm)
	}
	for _, key := range required[0] {
		if index, ok := indexArms(key.Path, required, compiled); ok {
			return compileIndexed(compilePath(key.Path), index, whole)
		}
	}
	return whole
}

// indexArms groups the arms of OR by the string that each compares with the property at path. ok
// is false if an arm has no such comparison.
func indexArms(
	path []string, required [][]Condition, compiled []evaluator,
) (index map[string][]evaluator, ok bool) {
	index = make(map[string][]evaluator, len(required))
	for i, conditions := range required {
		at := slices.IndexFunc(conditions, func(c Condition) bool {
			return c.Op == Eq && c.Values[0].Kind() == value.KindString && slices.Equal(c.Path, path)
		})
		if at < 0 {
			return nil, false
		}
		text, _ := conditions[at].Values[0].AsString()
		index[text] = append(index[text], compiled[i])
	}
	return index, true
}

// compileIndexed returns an evaluator that evaluates only the arms for the string in the key
// property. If the property is not a string, it evaluates the whole OR.
func compileIndexed(key evaluator, index map[string][]evaluator, whole evaluator) evaluator {
	return func(s *scope) value.Value {
		text, ok := key(s).AsString()
		if !ok {
			return whole(s)
		}
		return logical(s, index[text], true)
	}
}
