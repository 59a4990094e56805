package query

import (
	"slices"

	"cosmosblog/engine/value"
)

func (e *comparison) compile() evaluator {
	left, right, holds := e.left.compile(), e.right.compile(), comparisons[e.operator]
	equality := e.operator == "=" || e.operator == "!="
	return func(s *scope) value.Value {
		order, ok := compare(left(s), right(s), equality)
		if !ok {
			return value.Undefined
		}
		return value.Bool(holds(order))
	}
}

// comparisons maps an operator to a function of the result of value.Compare.
var comparisons = map[string]func(order int) bool{
	"=":  func(order int) bool { return order == 0 },
	"!=": func(order int) bool { return order != 0 },
	"<":  func(order int) bool { return order < 0 },
	"<=": func(order int) bool { return order <= 0 },
	">":  func(order int) bool { return order > 0 },
	">=": func(order int) bool { return order >= 0 },
}

// compare compares two values. ok is false if the service's comparison is undefined. That is the
// case if a value is undefined. Except for equality, it is also the case for different types,
// arrays, objects and NaN.
//
// Values of different types are unequal, so c.city != null selects every string. The
// documentation's table of equality calls this comparison undefined. However, Microsoft's
// evaluator in the tests of the .NET SDK treats the values as unequal, and the tests of EF
// Core's provider need that from the service.
func compare(a, b value.Value, equality bool) (order int, ok bool) {
	switch {
	case a.IsUndefined() || b.IsUndefined():
		return 0, false
	case !equality && (a.Kind() != b.Kind() || a.Kind() >= value.KindArray):
		return 0, false
	case a.IsNaN() || b.IsNaN():
		if !equality {
			return 0, false
		}
		return 1, true // it is not even equal to itself
	}
	return value.Compare(a, b), true
}

// compile compiles BETWEEN, which equals ">= low AND <= high". The operand is evaluated only
// once: with two evaluations, the cost of nested BETWEENs would double at each level.
func (e *between) compile() evaluator {
	operand, low, high := e.operand.compile(), e.low.compile(), e.high.compile()
	return negated(func(s *scope) value.Value {
		v := operand(s)
		fromLow, isAbove := compare(v, low(s), false)
		fromHigh, isBelow := compare(v, high(s), false)
		if fromLow < 0 || fromHigh > 0 { // both are 0 if the values are not comparable
			return value.False
		}
		if !isAbove || !isBelow {
			return value.Undefined
		}
		return value.True
	}, e.not)
}

func negated(e evaluator, negate bool) evaluator {
	if !negate {
		return e
	}
	return func(s *scope) value.Value { return not(e(s)) }
}

// compile compiles IN, which is undefined only if the needle is undefined.
func (e *membership) compile() evaluator {
	needle := e.needle.compile()
	if set, ok := newConstantSet(e.list); ok {
		return negated(func(s *scope) value.Value { return set.has(needle(s)) }, e.not)
	}
	list := compileAll(e.list)
	return negated(func(s *scope) value.Value {
		v := needle(s)
		if v.IsUndefined() {
			return value.Undefined
		}
		return value.Bool(!v.IsNaN() && slices.ContainsFunc(list, func(candidate evaluator) bool {
			return value.Equal(v, candidate(s))
		}))
	}, e.not)
}

// constantSet is a set of the constants in a list. It speeds up reads of many items, which name
// up to a thousand ids.
type constantSet struct {
	strings map[string]bool
	others  []value.Value
}

// newConstantSet returns the set of a list. ok is false if the list holds anything but
// constants.
func newConstantSet(list []expression) (set *constantSet, ok bool) {
	set = &constantSet{strings: make(map[string]bool, len(list))}
	for _, e := range list {
		l, ok := e.(*literal)
		if !ok {
			return nil, false
		}
		if text, ok := l.value.AsString(); ok {
			set.strings[text] = true
		} else {
			set.others = append(set.others, l.value)
		}
	}
	return set, true
}

// has reports as a boolean whether v is in the set, or returns undefined if v is undefined.
func (set *constantSet) has(v value.Value) value.Value {
	text, isString := v.AsString()
	switch {
	case v.IsUndefined():
		return value.Undefined
	case isString:
		return value.Bool(set.strings[text])
	}
	return value.Bool(!v.IsNaN() && slices.ContainsFunc(set.others, func(other value.Value) bool {
		return value.Equal(v, other)
	}))
}
