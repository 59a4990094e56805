package query

import (
	"slices"

	"cosmosblog/store/embedded/value"
)

func (e *comparison) compile() evaluator {
	left, right, holds := e.left.compile(), e.right.compile(), comparisons[e.operator]
	equality := e.operator == "="
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

// compare compares two values of one type; ok is false where the service's comparison is undefined: between types, with
// undefined, and, but for equality, between arrays or objects (equality and comparison operators, Azure Cosmos DB
// documentation).
func compare(a, b value.Value, equality bool) (order int, ok bool) {
	kind := a.Kind()
	if kind != b.Kind() || kind == value.KindUndefined || !equality && kind >= value.KindArray {
		return 0, false
	}
	return value.Compare(a, b), true
}

// compile makes BETWEEN of the two comparisons that it stands for.
func (e *between) compile() evaluator {
	both := (&infix{operators: []string{"AND"}, operands: []expression{
		&comparison{">=", e.operand, e.low}, &comparison{"<=", e.operand, e.high},
	}}).compile()
	return negated(both, e.not)
}

func negated(e evaluator, negate bool) evaluator {
	if !negate {
		return e
	}
	return func(s *scope) value.Value { return not(e(s)) }
}

// compile makes IN of the chain of OR that it stands for: it is true where one is equal, otherwise undefined where one
// comparison is, otherwise false.
func (e *membership) compile() evaluator {
	needle := e.needle.compile()
	if set, ok := newConstantSet(e.list); ok {
		return negated(func(s *scope) value.Value { return set.has(needle(s)) }, e.not)
	}
	list := compileAll(e.list)
	return negated(func(s *scope) value.Value {
		v, result := needle(s), value.False
		for _, candidate := range list {
			order, ok := compare(v, candidate(s), true)
			switch {
			case !ok:
				result = value.Undefined
			case order == 0:
				return value.True
			}
		}
		return result
	}, e.not)
}

// constantSet is a list of constants to look a value up in: reading many items names up to a thousand ids.
type constantSet struct {
	strings map[string]bool
	others  []value.Value
	kinds   map[value.Kind]bool
}

// newConstantSet makes the set of a list that holds nothing but constants.
func newConstantSet(list []expression) (*constantSet, bool) {
	set := &constantSet{strings: make(map[string]bool, len(list)), kinds: make(map[value.Kind]bool)}
	for _, e := range list {
		l, ok := e.(*literal)
		if !ok {
			return nil, false
		}
		set.kinds[l.value.Kind()] = true
		if text, ok := l.value.AsString(); ok {
			set.strings[text] = true
		} else {
			set.others = append(set.others, l.value)
		}
	}
	return set, true
}

// has tells whether v is in the set, in the three-valued logic of IN.
func (set *constantSet) has(v value.Value) value.Value {
	if v.IsUndefined() {
		return value.Undefined
	}
	text, isString := v.AsString()
	isV := func(other value.Value) bool { return value.Equal(v, other) }
	switch {
	case isString && set.strings[text], !isString && slices.ContainsFunc(set.others, isV):
		return value.True
	case len(set.kinds) == 1 && set.kinds[v.Kind()]:
		return value.False
	}
	return value.Undefined
}
