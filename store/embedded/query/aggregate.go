package query

import "cosmosblog/store/embedded/value"

// total gathers an aggregate's values, one for each item.
type total interface {
	add(value.Value)
	result() value.Value
}

// aggregates make a new total by the name of the aggregate.
var aggregates = map[string]func() total{
	"COUNT": func() total { return &countTotal{} },
	"SUM":   func() total { return &sumTotal{} },
	"AVG":   func() total { return &sumTotal{average: true} },
	"MIN":   func() total { return &extreme{wanted: -1} },
	"MAX":   func() total { return &extreme{wanted: 1} },
}

// countTotal counts the values that are defined.
type countTotal struct{ n int }

func (t *countTotal) add(v value.Value) {
	if !v.IsUndefined() {
		t.n++
	}
}

func (t *countTotal) result() value.Value { return value.Number(float64(t.n)) }

// sumTotal adds up numbers and leaves undefined out. One other value makes it undefined, and so does an average of
// nothing.
type sumTotal struct {
	average bool
	sum     float64
	n       int
	invalid bool
}

func (t *sumTotal) add(v value.Value) {
	if v.IsUndefined() {
		return
	}
	number, ok := v.AsNumber()
	t.sum += number
	t.n++
	t.invalid = t.invalid || !ok
}

func (t *sumTotal) result() value.Value {
	switch {
	case t.invalid:
		return value.Undefined
	case t.average:
		return finite(t.sum / float64(t.n))
	}
	return finite(t.sum)
}

// extreme keeps the least or the greatest value in the order of value.Compare and leaves undefined out. One array or
// object makes it undefined.
type extreme struct {
	wanted  int // what value.Compare says of a better value and the best
	best    value.Value
	invalid bool
}

func (t *extreme) add(v value.Value) {
	switch {
	case v.IsUndefined():
	case v.Kind() >= value.KindArray:
		t.invalid = true
	case t.best.IsUndefined() || value.Compare(v, t.best) == t.wanted:
		t.best = v
	}
}

func (t *extreme) result() value.Value {
	if t.invalid {
		return value.Undefined
	}
	return t.best
}
