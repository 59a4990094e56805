package query

import (
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"cosmosblog/engine/value"
	"cosmosblog/proof/testseed"
)

// generator generates random trees that the parser could produce. It uses few names and values,
// so that comparisons are often true.
type generator struct{ *rapid.T }

func (d generator) pick(words ...string) string { return rapid.SampledFrom(words).Draw(d.T, "word") }
func (d generator) number(from, to int) int     { return rapid.IntRange(from, to).Draw(d.T, "number") }
func (d generator) bool() bool                  { return rapid.Bool().Draw(d.T, "bool") }

func (d generator) constant() value.Value {
	switch d.number(0, 6) {
	case 0:
		return value.Undefined
	case 1:
		return value.Null
	case 2:
		return value.Bool(d.bool())
	case 3:
		return value.String(d.pick("", "a", "b", "it's", "\"\\\n\u2028é😀"))
	case 4:
		return value.Number(float64(d.number(0, 1<<20)) / 1024)
	}
	return value.Number(float64(d.number(0, 3)))
}

// item generates an item whose properties have the names in the trees' paths.
func (d generator) item() value.Value {
	var names []string
	var values []value.Value
	for _, name := range []string{"a", "b", "order"} {
		v := d.constant()
		switch d.number(0, 5) {
		case 0:
			v = value.Array([]value.Value{value.Number(1), value.String("a")})
		case 1:
			v = value.Object([]string{"a"}, []value.Value{value.Number(float64(d.number(0, 3)))})
		}
		if !v.IsUndefined() {
			names, values = append(names, name), append(values, v)
		}
	}
	return value.Object(names, values)
}

func (d generator) expressions(least, depth int) []expression {
	list := make([]expression, d.number(least, least+2))
	for i := range list {
		list[i] = d.expression(depth)
	}
	return list
}

// expression generates an expression with at most depth levels of nesting.
func (d generator) expression(depth int) expression {
	if depth == 0 {
		return d.leaf()
	}
	depth--
	switch d.number(0, 12) {
	case 0:
		return &unary{d.pick("-", "+", "NOT"), d.expression(depth)}
	case 1, 2:
		return d.infix([]string{d.pick("AND", "OR", "??", "||")}, depth)
	case 3:
		return d.infix([]string{"+", "-"}, depth)
	case 4:
		return d.infix([]string{"*", "/", "%"}, depth)
	case 5, 6:
		return &comparison{d.pick("=", "!=", "<", "<=", ">", ">="), d.expression(depth), d.expression(depth)}
	case 7:
		return &membership{d.expression(depth), d.expressions(1, depth), d.bool()}
	case 8:
		return &between{d.expression(depth), d.expression(depth), d.expression(depth), d.bool()}
	case 9:
		return &conditional{d.expression(depth), d.expression(depth), d.expression(depth)}
	case 10:
		return d.call(depth)
	case 11:
		return d.constructor(depth)
	}
	return d.access(depth)
}

func (d generator) leaf() expression {
	switch d.number(0, 4) {
	case 0:
		return &literal{value: d.constant()}
	case 1:
		return &parameter{name: d.pick("@p", "@q")}
	case 2:
		return item{}
	}
	return &property{[]string{d.pick("a", "b", "order", "é x")}}
}

func (d generator) infix(operators []string, depth int) expression {
	e := &infix{operands: []expression{d.expression(depth)}}
	for range d.number(1, 3) {
		e.operators = append(e.operators, d.pick(operators...))
		e.operands = append(e.operands, d.expression(depth))
	}
	return e
}

func (d generator) call(depth int) expression {
	name := d.pick("IS_DEFINED", "IS_NULL", "LOWER", "CONTAINS", "CONCAT", "LEFT", "ARRAY_SLICE", "TOSTRING", "REPLACE")
	e := &call{name: name}
	for range functions[name].least {
		e.arguments = append(e.arguments, d.expression(depth))
	}
	return e
}

func (d generator) constructor(depth int) expression {
	if d.bool() {
		return &arrayLiteral{d.expressions(0, depth)}
	}
	e := &objectLiteral{}
	for _, name := range []string{"a", "order", "\"x'"}[:d.number(0, 3)] {
		e.names, e.values = append(e.names, name), append(e.values, d.expression(depth))
	}
	return e
}

func (d generator) access(depth int) expression {
	var steps []step
	for range d.number(1, 3) {
		s := stepTo(d.expression(depth))
		if d.bool() {
			s = step{name: d.pick("a", "b", "select", "")}
		}
		steps = append(steps, s)
	}
	return follow(d.expression(depth), steps)
}

// predicate generates an expression that often yields conditions.
func (d generator) predicate(depth int) expression {
	path, constant := follow(item{}, []step{{name: d.pick("a", "b")}}), &literal{value: d.constant()}
	switch d.number(0, 5) {
	case 0:
		return &comparison{d.pick("=", "<", "<=", ">", ">=", "!="), path, constant}
	case 1:
		return &comparison{d.pick("=", "<", "<=", ">", ">="), constant, path}
	case 2:
		return &between{path, constant, &literal{value: d.constant()}, d.bool()}
	case 3:
		return &membership{path, []expression{constant, &literal{value: d.constant()}}, d.bool()}
	case 4:
		if depth > 0 {
			operator := d.pick("AND", "OR")
			return &infix{[]string{operator, operator}, []expression{d.predicate(depth - 1), d.predicate(depth - 1), d.predicate(0)}}
		}
	}
	return d.expression(1)
}

// tree generates a query. Its aliases differ, so that no name is selected twice.
func (d generator) tree() tree {
	t := tree{collection: d.pick("c", "root"), distinct: d.bool()}
	if d.bool() {
		t.alias = "x"
	}
	if d.bool() {
		t.top = d.count("TOP")
	}
	switch {
	case d.bool():
		t.star = true
	case d.bool():
		t.value = true
		t.selections = []selection{{expression: d.expression(3)}}
	default:
		for _, alias := range []string{"p", "q", "r"}[:d.number(1, 3)] {
			t.selections = append(t.selections, selection{expression: d.expression(3), alias: alias})
		}
	}
	if d.bool() {
		t.where = d.expression(4)
	}
	for range d.number(0, 2) {
		t.order = append(t.order, OrderItem{Path: []string{d.pick("a", "order")}, Descending: d.bool()})
	}
	if d.bool() {
		t.offset, t.limit = d.count("OFFSET"), d.count("LIMIT")
	}
	return t
}

func (d generator) count(clause string) *count {
	if d.bool() {
		return &count{clause: clause, parameter: "@n"}
	}
	return &count{clause: clause, number: d.number(0, 1<<31-1)}
}

// TestRandomTreesPrintAndParse checks that the text of every tree parses to the same tree.
func TestRandomTreesPrintAndParse(t *testing.T) {
	testseed.Check(t, func(t *rapid.T) {
		tree := generator{t}.tree()
		text := tree.print()
		q, err := Parse(text)
		if err != nil {
			t.Fatalf("%s\nis rejected: %v", text, err)
		}
		if !sameTree(reflect.ValueOf(tree), reflect.ValueOf(q.tree)) {
			t.Fatalf("%s\nparses to another tree, which prints as\n%s", text, q.String())
		}
	})
}

// TestFoldingKeepsValues checks that an expression has the same value whether or not its parts
// are constant.
func TestFoldingKeepsValues(t *testing.T) {
	testseed.Check(t, func(t *rapid.T) {
		d := generator{t}
		e, root := d.expression(4), d.item()
		p := Parameters{"@p": d.constant(), "@q": d.constant()}
		late := e.fold(&binder{parameters: p}).compile()(&scope{item: root})
		p["@item"] = root
		early := withParameter(e).fold(&binder{parameters: p}).(*literal).value
		if !value.Equal(early, late) {
			t.Fatalf("%v is folded to %v, evaluated to %v", (&tree{value: true, selections: []selection{{expression: e}}}).print(), early, late)
		}
	})
}

// TestConditionsAreNecessary checks that every item that satisfies WHERE also satisfies the
// conditions and one list of the disjuncts.
func TestConditionsAreNecessary(t *testing.T) {
	kept, conditioned := 0, 0
	testseed.Check(t, func(t *rapid.T) {
		d := generator{t}
		q := &Query{tree: tree{collection: "c", star: true, where: d.predicate(2)}}
		bound, err := q.Bind(Parameters{"@p": d.constant(), "@q": d.constant()})
		if err != nil {
			t.Fatal(err)
		}
		conditions, disjuncts := bound.Conditions(), bound.Disjuncts()
		for range 10 {
			root := d.item()
			if !bound.Matches(root) {
				continue
			}
			kept++
			conditioned += len(disjuncts)
			if !satisfies(root, conditions) {
				t.Fatalf("%s selects %v, which does not satisfy %s", q, root, conditionText(conditions))
			}
			if disjuncts != nil && !slices.ContainsFunc(disjuncts, func(list []Condition) bool { return satisfies(root, list) }) {
				t.Fatalf("%s selects %v, which satisfies none of the disjuncts", q, root)
			}
		}
	})
	if kept == 0 || conditioned == 0 {
		t.Errorf("nothing was tested: %d items selected by %d lists of conditions", kept, conditioned)
	}
}

func satisfies(root value.Value, conditions []Condition) bool {
	return !slices.ContainsFunc(conditions, func(c Condition) bool {
		v := root.Path(c.Path...)
		return !slices.ContainsFunc(c.Values, func(constant value.Value) bool {
			order := value.Compare(v, constant)
			return v.Kind() == constant.Kind() && map[Op]bool{
				Eq: order == 0, In: order == 0, Less: order < 0, LessEq: order <= 0, Greater: order > 0, GreaterEq: order >= 0,
			}[c.Op]
		})
	})
}
