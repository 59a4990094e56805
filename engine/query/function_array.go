package query

import (
	"math"
	"slices"

	"cosmosblog/engine/value"
)

var arrayFunctions = map[string]function{
	"ARRAY_LENGTH":       {least: 1, most: 1, fixed: arrayLength},
	"ARRAY_CONTAINS":     {least: 2, most: 3, fixed: arrayContains, takesUndefined: true},
	"ARRAY_CONTAINS_ANY": containsFunction(true),
	"ARRAY_CONTAINS_ALL": containsFunction(false),
	"ARRAY_SLICE":        {least: 2, most: 3, fixed: arraySlice},
	"ARRAY_CONCAT":       {least: 2, most: manyArguments, variadic: arrayConcat},
}

// maxElements is the maximum length of an array from ARRAY_CONCAT. A longer result is undefined.
// The limit is ours.
const maxElements = 1 << 20

// containsFunction searches for several values and combines the results with OR if decides is
// true, with AND otherwise. For an undefined value, the result is undefined unless the other
// values decide it (ARRAY_CONTAINS_ALL, Azure Cosmos DB documentation).
func containsFunction(decides bool) function {
	search := func(arguments []value.Value) value.Value {
		found := make([]evaluator, len(arguments)-1)
		for i, needle := range arguments[1:] {
			found[i] = func(*scope) value.Value {
				return arrayContains(arguments[0], needle, value.Undefined)
			}
		}
		return logical(nil, found, decides)
	}
	return function{least: 2, most: manyArguments, takesUndefined: true, variadic: search}
}

func arrayLength(a, _, _ value.Value) value.Value {
	items, ok := a.AsArray()
	if !ok {
		return value.Undefined
	}
	return value.Number(float64(len(items)))
}

// arrayContains searches for a value equal to needle. If partial is true, it also accepts an
// object that has all properties of needle with equal values.
func arrayContains(a, needle, partial value.Value) value.Value {
	items, ok := a.AsArray()
	part, isBool := flag(partial)
	if !ok || !isBool || needle.IsUndefined() {
		return value.Undefined
	}
	return value.Bool(slices.ContainsFunc(items, func(v value.Value) bool {
		return value.Equal(v, needle) || part && hasProperties(v, needle)
	}))
}

func hasProperties(v, needle value.Value) bool {
	names, values, ok := needle.Members()
	if !ok || v.Kind() != value.KindObject {
		return false
	}
	for i, name := range names {
		if !value.Equal(v.Get(name), values[i]) {
			return false
		}
	}
	return true
}

// flag reads an optional boolean argument. It returns false if the argument is missing.
func flag(v value.Value) (set, ok bool) {
	if v.IsUndefined() {
		return false, true
	}
	return v.AsBool()
}

// arraySlice returns the elements from start, at most length of them if given. A negative start
// counts from the end.
func arraySlice(a, start, length value.Value) value.Value {
	items, ok := a.AsArray()
	from, isStart := integer(start)
	count, isLength := len(items), true
	if !length.IsUndefined() {
		count, isLength = integer(length)
	}
	if !ok || !isStart || !isLength {
		return value.Undefined
	}
	if from < 0 {
		from = max(from+len(items), 0)
	}
	from = min(from, len(items))
	count = min(max(count, 0), len(items)-from)
	return value.Array(items[from : from+count])
}

// integer reads a whole number and clamps it to the range of int32, which exceeds the length of
// any array or string.
func integer(v value.Value) (int, bool) {
	n, ok := v.AsNumber()
	if !ok || n != math.Trunc(n) || math.IsInf(n, 0) {
		return 0, false
	}
	return int(min(max(n, math.MinInt32), math.MaxInt32)), true
}

func arrayConcat(arguments []value.Value) value.Value {
	lists, total := make([][]value.Value, len(arguments)), 0
	for i, argument := range arguments {
		items, ok := argument.AsArray()
		if total += len(items); !ok || total > maxElements {
			return value.Undefined
		}
		lists[i] = items
	}
	return value.Array(slices.Concat(lists...))
}
