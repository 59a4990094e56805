// Package value implements the JSON values of the embedded engine: a parser, a printer, the type
// order of Cosmos DB, and a key encoding whose byte order is the order of the values.
//
// A Value is immutable, so goroutines may share it. Numbers are IEEE 754 doubles or signed 64-bit
// integers, as in the service (see number.go).
package value

import (
	"slices"
	"strings"
	"unsafe"
)

// Kind is the type of a value. The order of the kinds is the type order of Cosmos DB: undefined
// < null < false < true < numbers < strings < arrays < objects.
type Kind uint8

const (
	KindUndefined Kind = iota
	KindNull
	KindBool
	KindNumber
	KindString
	KindArray
	KindObject
)

var kindNames = [...]string{"undefined", "null", "boolean", "number", "string", "array", "object"}

func (k Kind) String() string { return kindNames[k] }

// Value is a JSON value or undefined. The zero Value is undefined, the result of a path to a
// missing property.
type Value struct {
	kind   Kind
	rest   int16   // KindNumber: what number lacks; see number.go
	number float64 // KindNumber; KindBool: 0 or 1
	text   string  // KindString
	items  []Value // KindArray: the elements; KindObject: the property values
	names  []string
}

// Undefined stands for a missing value, Null for the JSON null.
var (
	Undefined = Value{}
	Null      = Value{kind: KindNull}
	True      = Value{kind: KindBool, number: 1}
	False     = Value{kind: KindBool}
)

func Bool(b bool) Value {
	if b {
		return True
	}
	return False
}

// Number returns a number. Queries compute NaN and infinities, too, which no text has.
func Number(n float64) Value    { return Value{kind: KindNumber, number: n} }
func String(s string) Value     { return Value{kind: KindString, text: s} }
func Array(items []Value) Value { return Value{kind: KindArray, items: items} }

// Object returns an object with the given names and values, which correspond by index and keep
// their order. The names must be distinct, and no value may be undefined.
func Object(names []string, values []Value) Value {
	return Value{kind: KindObject, names: names, items: values}
}

func (v Value) Kind() Kind        { return v.kind }
func (v Value) IsUndefined() bool { return v.kind == KindUndefined }

// AsBool, AsNumber, AsString, AsArray and Members return the Go value, and whether v has that
// kind. AsNumber returns the nearest double.
func (v Value) AsBool() (b, ok bool)               { return v.number != 0, v.kind == KindBool }
func (v Value) AsNumber() (n float64, ok bool)     { return v.number, v.kind == KindNumber }
func (v Value) AsString() (s string, ok bool)      { return v.text, v.kind == KindString }
func (v Value) AsArray() (items []Value, ok bool)  { return v.items, v.kind == KindArray }
func (v Value) IsTrue() bool                       { return v.kind == KindBool && v.number != 0 }
func (v Value) Members() ([]string, []Value, bool) { return v.names, v.items, v.kind == KindObject }

// Len returns the number of an array's elements or an object's properties, and 0 for other
// kinds.
func (v Value) Len() int { return len(v.items) }

// Get returns a property of an object, or Undefined.
func (v Value) Get(name string) Value {
	if v.kind == KindObject {
		for i, n := range v.names {
			if n == name {
				return v.items[i]
			}
		}
	}
	return Undefined
}

// manyNames is the number of properties from which a map is used to find a name. Without the
// map, the work on an object of 100,000 properties would be quadratic.
const manyNames = 64

// finder looks up many properties of one object.
type finder struct {
	object Value
	places map[string]int // nil for few properties
}

func (v Value) finder() finder {
	f := finder{object: v}
	if len(v.names) > manyNames {
		f.places = placesOf(v.names)
	}
	return f
}

func placesOf(names []string) map[string]int {
	places := make(map[string]int, len(names))
	for i, name := range names {
		places[name] = i
	}
	return places
}

// get returns a property, or Undefined. It checks the probable position first.
func (f finder) get(probably int, name string) Value {
	if probably < len(f.object.names) && f.object.names[probably] == name {
		return f.object.items[probably]
	}
	if f.places == nil {
		return f.object.Get(name)
	}
	if i, ok := f.places[name]; ok {
		return f.object.items[i]
	}
	return Undefined
}

// Sorted returns the properties of an object, sorted by name.
func (v Value) Sorted() (names []string, values []Value) {
	places := make([]int, len(v.names))
	for i := range places {
		places[i] = i
	}
	slices.SortFunc(places, func(i, j int) int { return strings.Compare(v.names[i], v.names[j]) })
	for _, i := range places {
		names, values = append(names, v.names[i]), append(values, v.items[i])
	}
	return names, values
}

// At returns an element of an array, or Undefined.
func (v Value) At(i int) Value {
	if v.kind == KindArray && i >= 0 && i < len(v.items) {
		return v.items[i]
	}
	return Undefined
}

// Path follows property names from v. It returns Undefined if one is missing.
func (v Value) Path(names ...string) Value {
	for _, name := range names {
		v = v.Get(name)
	}
	return v
}

// With returns a copy of the object v with one property set. An existing property keeps its
// position; a new one is added at the end. Setting Undefined removes the property.
func (v Value) With(name string, property Value) Value {
	names := make([]string, 0, len(v.names)+1)
	items := make([]Value, 0, len(v.items)+1)
	found := false
	for i, n := range v.names {
		value := v.items[i]
		if n == name {
			found, value = true, property
			if property.IsUndefined() {
				continue
			}
		}
		names, items = append(names, n), append(items, value)
	}
	if !found && !property.IsUndefined() {
		names, items = append(names, name), append(items, property)
	}
	return Object(names, items)
}

// Without returns a copy of v without the property at path, or v itself if there is no such
// property.
func (v Value) Without(path []string) Value {
	child := v.Get(path[0])
	switch {
	case child.IsUndefined():
		return v
	case len(path) == 1:
		return v.With(path[0], Undefined)
	}
	return v.With(path[0], child.Without(path[1:]))
}

// Depth returns the nesting depth of arrays and objects in v, 0 for a scalar.
func (v Value) Depth() int {
	if v.kind != KindArray && v.kind != KindObject {
		return 0
	}
	deepest := 0
	for _, item := range v.items {
		deepest = max(deepest, item.Depth())
	}
	return deepest + 1
}

// Leaves returns the number of scalar values in v, including those in arrays and objects. The
// service indexes these values of an item.
func (v Value) Leaves() int {
	switch v.kind {
	case KindUndefined:
		return 0
	case KindArray, KindObject:
		n := 0
		for _, item := range v.items {
			n += item.Leaves()
		}
		return n
	}
	return 1
}

// Footprint returns the approximate size of v in memory, in bytes. A shared part counts each
// time it occurs. Counting stops once the size exceeds enough.
func (v Value) Footprint(enough int) int {
	n := len(v.text)
	for _, item := range v.items {
		if n > enough {
			break
		}
		n += int(unsafe.Sizeof(v)) + item.Footprint(enough-n)
	}
	return n
}

// ChangedLeaves returns the number of leaves that were added, removed or changed between a and
// b.
func ChangedLeaves(a, b Value) int { return ChangedLeavesExcept(a, b, nil) }

// ChangedLeavesExcept is ChangedLeaves without the top properties of some names.
func ChangedLeavesExcept(a, b Value, except map[string]bool) int {
	if a.kind != b.kind {
		return max(a.Leaves(), b.Leaves())
	}
	switch a.kind {
	case KindObject:
		n := 0
		inA, inB := a.finder(), b.finder()
		for i, name := range b.names {
			if !except[name] {
				n += ChangedLeaves(inA.get(i, name), b.items[i])
			}
		}
		for i, name := range a.names {
			if !except[name] && inB.get(i, name).IsUndefined() {
				n += a.items[i].Leaves()
			}
		}
		return n
	case KindArray:
		n := 0
		for i := range max(len(a.items), len(b.items)) {
			n += ChangedLeaves(a.At(i), b.At(i))
		}
		return n
	}
	if Compare(a, b) != 0 {
		return 1
	}
	return 0
}
