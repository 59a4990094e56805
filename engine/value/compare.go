package value

import (
	"cmp"
	"slices"
	"strings"
)

// Compare orders two values of any kinds. It returns -1, 0 or 1.
//
// Values are ordered first by kind, then false before true, numbers by value, strings by their
// UTF-8 bytes, arrays by their elements, and objects by their properties in the order of their
// names. The service orders arrays and objects by an unpublished hash; their order here is ours.
func Compare(a, b Value) int {
	if a.kind != b.kind {
		return cmp.Compare(a.kind, b.kind)
	}
	switch a.kind {
	case KindBool, KindNumber:
		if c := cmp.Compare(a.number, b.number); c != 0 {
			return c
		}
		return cmp.Compare(a.rest, b.rest)
	case KindString:
		return strings.Compare(a.text, b.text)
	case KindArray:
		return slices.CompareFunc(a.items, b.items, Compare)
	case KindObject:
		return compareObjects(a, b)
	}
	return 0
}

// Equal reports whether two values are the same JSON value. The order of an object's properties
// does not matter.
func Equal(a, b Value) bool { return Compare(a, b) == 0 }

func compareObjects(a, b Value) int {
	aNames, aValues := a.Sorted()
	bNames, bValues := b.Sorted()
	if c := slices.Compare(aNames, bNames); c != 0 {
		return c
	}
	return slices.CompareFunc(aValues, bValues, Compare)
}
