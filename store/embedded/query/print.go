package query

import "cosmosblog/store/embedded/value"

// printer writes a tree as canonical text: keywords in upper case, strings in double quotes, properties with a dot where
// they can be, parentheses where they are needed only.
type printer struct {
	text []byte
	item string // the item's name
}

func (p *printer) write(texts ...string) {
	for _, text := range texts {
		p.text = append(p.text, text...)
	}
}

// operand writes an expression in a place that asks for a level.
func (p *printer) operand(e expression, at level) {
	if e.level() >= at {
		e.print(p)
		return
	}
	p.write("(")
	e.print(p)
	p.write(")")
}

func (p *printer) list(expressions []expression) {
	for i, e := range expressions {
		if i > 0 {
			p.write(", ")
		}
		e.print(p)
	}
}

func (t *tree) print() string {
	p := &printer{item: t.itemName()}
	p.write("SELECT ")
	if t.distinct {
		p.write("DISTINCT ")
	}
	if t.top != nil {
		p.count("TOP ", t.top)
		p.write(" ")
	}
	p.selections(t)
	if t.collection != "" {
		p.write(" FROM ", t.collection)
	}
	if t.alias != "" {
		p.write(" AS ", t.alias)
	}
	if t.where != nil {
		p.write(" WHERE ")
		t.where.print(p)
	}
	p.order(t.order)
	if t.offset != nil {
		p.count(" OFFSET ", t.offset)
		p.count(" LIMIT ", t.limit)
	}
	return string(p.text)
}

func (p *printer) selections(t *tree) {
	if t.star {
		p.write("*")
	}
	if t.value {
		p.write("VALUE ")
	}
	for i, s := range t.selections {
		if i > 0 {
			p.write(", ")
		}
		s.expression.print(p)
		if s.alias != "" {
			p.write(" AS ", s.alias)
		}
	}
}

func (p *printer) count(before string, c *count) {
	p.write(before, c.parameter)
	if c.parameter == "" {
		p.text = value.Append(p.text, value.Number(float64(c.number)))
	}
}

func (p *printer) order(items []OrderItem) {
	for i, o := range items {
		if i == 0 {
			p.write(" ORDER BY ")
		} else {
			p.write(", ")
		}
		p.write(p.item)
		p.path(o.Path)
		if o.Descending {
			p.write(" DESC")
		}
	}
}

func (p *printer) path(names []string) {
	for _, name := range names {
		p.name(name)
	}
}

// name writes a step to a property.
func (p *printer) name(name string) {
	if isName(name) {
		p.write(".", name)
		return
	}
	p.write("[")
	p.text = value.AppendString(p.text, name)
	p.write("]")
}

func (item) print(p *printer) { p.write(p.item) }

func (e *literal) print(p *printer) {
	if e.value.IsUndefined() {
		p.write("undefined")
		return
	}
	p.text = value.Append(p.text, e.value)
}

func (e *parameter) print(p *printer) { p.write(e.name) }

func (e *property) print(p *printer) {
	p.write(p.item)
	p.path(e.path)
}

func (e *access) print(p *printer) {
	if _, number := e.base.(*literal); number {
		p.write("(") // a point after a number would be its own
		e.base.print(p)
		p.write(")")
	} else {
		p.operand(e.base, primaryLevel)
	}
	for _, s := range e.steps {
		if s.index == nil {
			p.name(s.name)
			continue
		}
		p.write("[")
		s.index.print(p)
		p.write("]")
	}
}

func (e *unary) print(p *printer) {
	if e.operator == "NOT" {
		p.write("NOT ")
		if inner, ok := e.operand.(*unary); ok && inner.operator == "NOT" {
			inner.print(p)
			return
		}
		p.operand(e.operand, unaryLevel)
		return
	}
	p.write(e.operator)
	p.operand(e.operand, primaryLevel) // two signs would begin a comment
}

func (e *infix) print(p *printer) {
	operandLevel := e.level() + 1
	switch e.operators[0] {
	case "??":
		operandLevel = orLevel
	case "||":
		operandLevel = additiveLevel
	}
	for i, operand := range e.operands {
		if i > 0 {
			p.write(" ", e.operators[i-1], " ")
		}
		p.operand(operand, operandLevel)
	}
}

func (e *comparison) print(p *printer) {
	p.operand(e.left, additiveLevel)
	p.write(" ", e.operator, " ")
	p.operand(e.right, additiveLevel)
}

func (e *membership) print(p *printer) {
	p.operand(e.needle, additiveLevel)
	p.not(e.not)
	p.write(" IN (")
	p.list(e.list)
	p.write(")")
}

func (e *between) print(p *printer) {
	p.operand(e.operand, additiveLevel)
	p.not(e.not)
	p.write(" BETWEEN ")
	p.operand(e.low, additiveLevel)
	p.write(" AND ")
	p.operand(e.high, additiveLevel)
}

func (p *printer) not(not bool) {
	if not {
		p.write(" NOT")
	}
}

func (e *conditional) print(p *printer) {
	p.operand(e.test, orLevel)
	p.write(" ? ")
	e.then.print(p)
	p.write(" : ")
	if next, ok := e.otherwise.(*conditional); ok {
		next.print(p)
		return
	}
	p.operand(e.otherwise, orLevel)
}

func (e *arrayLiteral) print(p *printer) {
	p.write("[")
	p.list(e.elements)
	p.write("]")
}

func (e *objectLiteral) print(p *printer) {
	p.write("{")
	for i, name := range e.names {
		if i > 0 {
			p.write(", ")
		}
		p.text = value.AppendString(p.text, name)
		p.write(": ")
		e.values[i].print(p)
	}
	p.write("}")
}

func (e *call) print(p *printer) {
	p.write(e.name, "(")
	p.list(e.arguments)
	p.write(")")
}

func (e *aggregate) print(p *printer) {
	p.write(e.name, "(")
	e.argument.print(p)
	p.write(")")
}
