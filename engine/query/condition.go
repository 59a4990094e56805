package query

import "cosmosblog/engine/value"

// flatten appends the operands of a chain of one operator to all, including those of nested
// chains. If e is not such a chain, it appends e itself.
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

// conditions returns the conditions that an expression implies if it is true.
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

// conditionOps are the comparison operators that become conditions.
var conditionOps = map[string]Op{"=": Eq, "<": Less, "<=": LessEq, ">": Greater, ">=": GreaterEq}

// flipped maps a comparison operator to the operator with exchanged sides.
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

// condition returns the condition of a comparison between a property and a constant. It returns
// none if no value compares with the constant: Run then finds that the comparison is never true.
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

// nullConditions returns the condition of IS_NULL. A read of many items uses IS_NULL to name a
// null partition key.
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
