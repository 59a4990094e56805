// Package value is the engine's JSON: values with the type order of Cosmos DB, one parser, one printer,
// and a key encoding whose byte order is the order of the values.
//
// A Value never changes once made, so that values may be shared freely between goroutines. Numbers are IEEE 754
// doubles, as in the service.
package value

import (
	"slices"
	"strings"
	"unsafe"
)

// Kind is the type of a value. The order of the kinds is the order of the types in Cosmos DB:
// undefined < null < false < true < numbers < strings < arrays < objects.
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

// Value is one JSON value, or undefined (the zero Value), which is what a path to nothing gives.
type Value struct {
	kind   Kind
	number float64 // KindNumber; KindBool: 0 or 1
	text   string  // KindString
	items  []Value // KindArray: its elements; KindObject: the values of its properties
	names  []string
}

// Undefined and Null are the two values that say "nothing" and "there is nothing".
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

func Number(n float64) Value    { return Value{kind: KindNumber, number: n} }
func String(s string) Value     { return Value{kind: KindString, text: s} }
func Array(items []Value) Value { return Value{kind: KindArray, items: items} }

// Object makes an object of names and values, which go by pairs and keep their order. A name must not be there twice,
// and a value must not be undefined.
func Object(names []string, values []Value) Value {
	return Value{kind: KindObject, names: names, items: values}
}

func (v Value) Kind() Kind        { return v.kind }
func (v Value) IsUndefined() bool { return v.kind == KindUndefined }

// AsBool, AsNumber and AsString give the Go value, and whether v is of that kind.
func (v Value) AsBool() (b, ok bool)               { return v.number != 0, v.kind == KindBool }
func (v Value) AsNumber() (n float64, ok bool)     { return v.number, v.kind == KindNumber }
func (v Value) AsString() (s string, ok bool)      { return v.text, v.kind == KindString }
func (v Value) AsArray() (items []Value, ok bool)  { return v.items, v.kind == KindArray }
func (v Value) IsTrue() bool                       { return v.kind == KindBool && v.number != 0 }
func (v Value) Members() ([]string, []Value, bool) { return v.names, v.items, v.kind == KindObject }

// Len is the number of elements of an array or of properties of an object, 0 for all else.
func (v Value) Len() int { return len(v.items) }

// Get gives an object's property, or Undefined.
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

// manyNames is from how many properties on a map finds a name, so that work on an object of a hundred thousand does not
// take the square of it.
const manyNames = 64

// finder finds many properties of one object.
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

// placesOf tells where each name stands.
func placesOf(names []string) map[string]int {
	places := make(map[string]int, len(names))
	for i, name := range names {
		places[name] = i
	}
	return places
}

// get gives a property, or Undefined. It looks first where the property probably is.
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

// Sorted gives the properties of an object in the order of their names.
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

// At gives an array's element, or Undefined.
func (v Value) At(i int) Value {
	if v.kind == KindArray && i >= 0 && i < len(v.items) {
		return v.items[i]
	}
	return Undefined
}

// Path follows property names from v.
func (v Value) Path(names ...string) Value {
	for _, name := range names {
		v = v.Get(name)
	}
	return v
}

// With gives a copy of the object v with one property set, at its old place or at the end; Undefined removes it.
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

// Without gives a copy of v without the property at the end of a path of names; v itself where there is none.
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

// Depth is how deeply arrays and objects nest in v: 0 for a scalar.
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

// Leaves counts the scalar values in v, those in arrays and objects included: what the service indexes of an item.
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

// Footprint is about how many bytes v takes in memory, each part counted as often as it is there. The count ends once it is
// more than enough.
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

// ChangedLeaves counts the leaves that are in b and not at the same place in a, and those that were in a and are gone.
func ChangedLeaves(a, b Value) int {
	if a.kind != b.kind {
		return max(a.Leaves(), b.Leaves())
	}
	switch a.kind {
	case KindObject:
		n := 0
		inA, inB := a.finder(), b.finder()
		for i, name := range b.names {
			n += ChangedLeaves(inA.get(i, name), b.items[i])
		}
		for i, name := range a.names {
			if inB.get(i, name).IsUndefined() {
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
