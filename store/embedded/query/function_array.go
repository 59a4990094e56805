package query

import (
	"math"
	"slices"

	"cosmosblog/store/embedded/value"
)

var arrayFunctions = map[string]function{
	"ARRAY_LENGTH":       {least: 1, most: 1, fixed: arrayLength},
	"ARRAY_CONTAINS":     {least: 2, most: 3, fixed: arrayContains, takesUndefined: true},
	"ARRAY_CONTAINS_ANY": containsFunction(true),
	"ARRAY_CONTAINS_ALL": containsFunction(false),
	"ARRAY_SLICE":        {least: 2, most: 3, fixed: arraySlice},
	"ARRAY_CONCAT":       {least: 2, most: manyArguments, variadic: arrayConcat},
}

// maxElements is how long ARRAY_CONCAT makes an array; what is longer is undefined. The limit is ours.
const maxElements = 1 << 20

// containsFunction looks for each of several values and joins the answers by OR or AND, of which one decides: an
// undefined value leaves the answer open where the others do not decide it (ARRAY_CONTAINS_ALL, Azure Cosmos DB
// documentation).
func containsFunction(decides bool) function {
	return function{least: 2, most: manyArguments, takesUndefined: true, variadic: func(arguments []value.Value) value.Value {
		answers := make([]evaluator, len(arguments)-1)
		for i, needle := range arguments[1:] {
			answers[i] = func(*scope) value.Value { return arrayContains(arguments[0], needle, value.Undefined) }
		}
		return logical(nil, answers, decides)
	}}
}

func arrayLength(a, _, _ value.Value) value.Value {
	items, ok := a.AsArray()
	if !ok {
		return value.Undefined
	}
	return value.Number(float64(len(items)))
}

// arrayContains looks for a value that is equal or, where partial is true, for an object that has all the properties of
// the needle with equal values.
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

// flag reads an optional boolean argument, which is false where it is not given.
func flag(v value.Value) (set, ok bool) {
	if v.IsUndefined() {
		return false, true
	}
	return v.AsBool()
}

// arraySlice takes elements from a start, which counts from the end where it is negative, up to a number of elements or
// to the end.
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

// integer reads a whole number; one that is larger than any array or string is held to what an int32 holds.
func integer(v value.Value) (int, bool) {
	n, ok := v.AsNumber()
	if !ok || n != math.Trunc(n) {
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
