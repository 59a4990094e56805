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
	asked := make([][]Condition, len(arms))
	for i, arm := range arms {
		asked[i] = conditions(arm)
	}
	for _, key := range asked[0] {
		if index, ok := indexArms(key.Path, asked, compiled); ok {
			return compileIndexed(compilePath(key.Path), index, whole)
		}
	}
	return whole
}

// indexArms groups the arms of an OR by the string that each asks for in the property at a path, where each does.
func indexArms(path []string, asked [][]Condition, compiled []evaluator) (map[string][]evaluator, bool) {
	index := make(map[string][]evaluator, len(asked))
	for i, conditions := range asked {
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
