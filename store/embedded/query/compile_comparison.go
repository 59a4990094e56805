package query

import (
	"slices"

	"cosmosblog/store/embedded/value"
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

// comparisons tell whether an operator holds of what value.Compare says.
var comparisons = map[string]func(order int) bool{
	"=":  func(order int) bool { return order == 0 },
	"!=": func(order int) bool { return order != 0 },
	"<":  func(order int) bool { return order < 0 },
	"<=": func(order int) bool { return order <= 0 },
	">":  func(order int) bool { return order > 0 },
	">=": func(order int) bool { return order >= 0 },
}

// compare compares two values; ok is false where the service's comparison is undefined: with undefined, and, but for
// equality, between types, arrays or objects. Values of two types are unequal, so that c.city != null keeps every text: the
// documentation's table of equality says that it is undefined, but Microsoft's evaluator in the tests of the .NET SDK has
// it so, and the tests of EF Core's provider need it of the service.
func compare(a, b value.Value, equality bool) (order int, ok bool) {
	switch {
	case a.IsUndefined() || b.IsUndefined():
		return 0, false
	case !equality && (a.Kind() != b.Kind() || a.Kind() >= value.KindArray):
		return 0, false
	}
	return value.Compare(a, b), true
}

// compile makes BETWEEN, which is what ">= low AND <= high" is. The operand is evaluated once: nested in each other, those
// evaluated twice would take the power of two of their number.
func (e *between) compile() evaluator {
	operand, low, high := e.operand.compile(), e.low.compile(), e.high.compile()
	return negated(func(s *scope) value.Value {
		v := operand(s)
		fromLow, isAbove := compare(v, low(s), false)
		fromHigh, isBelow := compare(v, high(s), false)
		if fromLow < 0 || fromHigh > 0 { // which is 0 where nothing can be compared
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

// compile makes IN, which is undefined of an undefined needle only.
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
		return value.Bool(slices.ContainsFunc(list, func(candidate evaluator) bool { return value.Equal(v, candidate(s)) }))
	}, e.not)
}

// constantSet is a list of constants to look a value up in: reading many items names up to a thousand ids.
type constantSet struct {
	strings map[string]bool
	others  []value.Value
}

// newConstantSet makes the set of a list that holds nothing but constants.
func newConstantSet(list []expression) (*constantSet, bool) {
	set := &constantSet{strings: make(map[string]bool, len(list))}
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

// has tells whether v is in the set.
func (set *constantSet) has(v value.Value) value.Value {
	text, isString := v.AsString()
	switch {
	case v.IsUndefined():
		return value.Undefined
	case isString:
		return value.Bool(set.strings[text])
	}
	return value.Bool(slices.ContainsFunc(set.others, func(other value.Value) bool { return value.Equal(v, other) }))
}
