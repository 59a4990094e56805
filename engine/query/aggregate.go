package query

import "cosmosblog/engine/value"

// total accumulates the values of an aggregate, one for each item.
type total interface {
	add(value.Value)
	result() value.Value
}

// aggregates maps the name of an aggregate to a constructor of its total.
var aggregates = map[string]func() total{
	"COUNT": func() total { return &countTotal{} },
	"SUM":   func() total { return &sumTotal{} },
	"AVG":   func() total { return &sumTotal{average: true} },
	"MIN":   func() total { return &extreme{wanted: -1} },
	"MAX":   func() total { return &extreme{wanted: 1} },
}

// countTotal counts the defined values.
type countTotal struct{ n int }

func (t *countTotal) add(v value.Value) {
	if !v.IsUndefined() {
		t.n++
	}
}

func (t *countTotal) result() value.Value { return value.Number(float64(t.n)) }

// sumTotal adds up numbers and ignores undefined. Any other value makes the result undefined,
// and so does an average over no values.
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
	case t.invalid || t.average && t.n == 0:
		return value.Undefined
	case t.average:
		return value.Number(t.sum / float64(t.n))
	}
	return value.Number(t.sum)
}

// extreme keeps the least or the greatest value in the order of value.Compare and ignores
// undefined. An array or object makes the result undefined.
type extreme struct {
	wanted  int // result of value.Compare if its first argument replaces best
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
