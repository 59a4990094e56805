package query

import "cosmosblog/store/embedded/value"

// flatten appends the operands of a chain of one operator, those of chains inside it included, or e itself.
func flatten(all []expression, e expression, operator string) []expression {
	chain, ok := e.(*infix)
	if !ok || chain.operators[0] != operator {
		return append(all, e)
	}
	for _, operand := range chain.operands {
		all = flatten(all, operand, operator)
	}
	return all
}

// conditions reads the conditions of an expression that must be true.
func conditions(e expression) []Condition {
	var found []Condition
	for _, conjunct := range flatten(nil, e, "AND") {
		switch c := conjunct.(type) {
		case *comparison:
			found = append(found, comparisonConditions(c)...)
		case *between:
			found = append(found, betweenConditions(c)...)
		case *membership:
			found = append(found, membershipConditions(c)...)
		case *call:
			found = append(found, nullConditions(c)...)
		}
	}
	return found
}

// conditionOps are the comparisons that make conditions.
var conditionOps = map[string]Op{"=": Eq, "<": Less, "<=": LessEq, ">": Greater, ">=": GreaterEq}

// flipped are the comparisons with their sides exchanged.
var flipped = map[string]string{"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

func comparisonConditions(c *comparison) []Condition {
	if p, ok := c.left.(*property); ok {
		return condition(p, c.operator, c.right)
	}
	if p, ok := c.right.(*property); ok {
		return condition(p, flipped[c.operator], c.left)
	}
	return nil
}

func betweenConditions(b *between) []Condition {
	p, ok := b.operand.(*property)
	if !ok || b.not {
		return nil
	}
	return append(condition(p, ">=", b.low), condition(p, "<=", b.high)...)
}

// condition makes the condition of a comparison with a constant. It makes none of a constant that nothing compares
// with: the comparison is never true, and Run finds that.
func condition(p *property, operator string, constant expression) []Condition {
	l, isLiteral := constant.(*literal)
	op, known := conditionOps[operator]
	if !isLiteral || !known {
		return nil
	}
	if _, comparable := compare(l.value, l.value, op == Eq); !comparable {
		return nil
	}
	return []Condition{{Path: p.path, Op: op, Values: []value.Value{l.value}}}
}

func membershipConditions(m *membership) []Condition {
	p, ok := m.needle.(*property)
	if !ok || m.not {
		return nil
	}
	values := make([]value.Value, 0, len(m.list))
	for _, e := range m.list {
		l, ok := e.(*literal)
		if !ok {
			return nil
		}
		if !l.value.IsUndefined() {
			values = append(values, l.value)
		}
	}
	if len(values) == 0 {
		return nil
	}
	return []Condition{{Path: p.path, Op: In, Values: values}}
}

// nullConditions reads IS_NULL, by which a read of many items names a partition key that is null.
func nullConditions(c *call) []Condition {
	if c.name != "IS_NULL" {
		return nil
	}
	p, ok := c.arguments[0].(*property)
	if !ok {
		return nil
	}
	return []Condition{{Path: p.path, Op: Eq, Values: []value.Value{value.Null}}}
}
