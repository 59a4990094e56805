package engine

import (
	"fmt"
	"slices"
	"strings"

	"cosmosblog/engine/value"
)

// truth is a value of three-valued logic.
type truth int

const (
	no truth = iota
	unknown
	yes
)

func truthOf(b bool) truth {
	if b {
		return yes
	}
	return no
}

// condition is the text of a condition and its value for an item.
type condition struct {
	text string
	of   func(item value.Value) truth
}

// both joins conditions by AND, whose value is the lower one.
func (d *differential) both(x, y condition) condition {
	return condition{"(" + x.text + ") AND (" + y.text + ")", func(item value.Value) truth { return min(x.of(item), y.of(item)) }}
}

// condition returns a random condition that nests at most depth levels.
func (d *differential) condition(depth int) condition {
	if depth > 0 {
		switch x := d.condition(depth - 1); d.random.IntN(4) {
		case 0:
			return d.both(x, d.condition(depth-1))
		case 1:
			y := d.condition(depth - 1)
			return condition{"(" + x.text + ") OR (" + y.text + ")", func(item value.Value) truth { return max(x.of(item), y.of(item)) }}
		case 2:
			return condition{"NOT (" + x.text + ")", func(item value.Value) truth { return yes - x.of(item) }}
		}
	}
	path := pick(d.random, differentialPaths)
	get := func(item value.Value) value.Value { return item.Path(strings.Split(path, ".")...) }
	switch d.random.IntN(6) {
	case 0:
		return condition{"IS_DEFINED(c." + path + ")", func(item value.Value) truth { return truthOf(!get(item).IsUndefined()) }}
	case 1:
		return condition{"c." + path, func(item value.Value) truth {
			if b, ok := get(item).AsBool(); ok {
				return truthOf(b)
			}
			return unknown
		}}
	case 2:
		low, lowText := d.constant()
		high, highText := d.constant()
		return condition{fmt.Sprintf("c.%s BETWEEN %s AND %s", path, lowText, highText), func(item value.Value) truth {
			return min(compared(get(item), ">=", low), compared(get(item), "<=", high))
		}}
	case 3:
		return d.membership(path, get)
	}
	operator := pick(d.random, []string{"=", "=", "!=", "<", "<=", ">", ">="})
	constant, text := d.constant()
	return condition{fmt.Sprintf("c.%s %s %s", path, operator, text), func(item value.Value) truth {
		return compared(get(item), operator, constant)
	}}
}

func (d *differential) membership(path string, get func(value.Value) value.Value) condition {
	var constants []value.Value
	var texts []string
	for range 1 + d.random.IntN(3) {
		v, text := d.constant()
		constants, texts = append(constants, v), append(texts, text)
	}
	return condition{fmt.Sprintf("c.%s IN (%s)", path, strings.Join(texts, ", ")), func(item value.Value) truth {
		if get(item).IsUndefined() {
			return unknown
		}
		return truthOf(slices.ContainsFunc(constants, func(v value.Value) bool { return value.Equal(get(item), v) }))
	}}
}

// constant returns a random constant and its text.
func (d *differential) constant() (value.Value, string) {
	text := d.randomValue()
	if text == "" {
		return value.Undefined, "undefined"
	}
	v, _ := value.Parse([]byte(text))
	return v, text
}

// compared returns the value of a comparison. Between different types, arrays or objects, only
// equality is defined.
func compared(x value.Value, operator string, y value.Value) truth {
	c := value.Compare(x, y)
	switch {
	case x.IsUndefined() || y.IsUndefined():
		return unknown
	case operator == "=" || operator == "!=":
		return truthOf((c == 0) == (operator == "="))
	case x.Kind() != y.Kind() || x.Kind() >= value.KindArray:
		return unknown
	}
	return truthOf(map[string]bool{"<": c < 0, "<=": c <= 0, ">": c > 0, ">=": c >= 0}[operator])
}
