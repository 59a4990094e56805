package query

import (
	"math"

	"cosmosblog/engine/value"
)

// printer writes a tree as canonical text. Keywords are in upper case and strings in double
// quotes. Properties follow a dot if their name allows it. Only necessary parentheses are
// written.
type printer struct {
	text []byte
	item string // the item's name
}

// printed is implemented by all nodes of the tree.
type printed interface {
	level() level
	print(p *printer)
}

// level is the precedence of a node's operator, weakest first. An operand with a lower level
// than its position requires is written in parentheses.
type level uint8

const (
	conditionalLevel    level = iota // a ? b : c and a ?? b
	orLevel                          // OR
	andLevel                         // AND
	notLevel                         // NOT
	comparisonLevel                  // = != < <= > >=, IN, BETWEEN, ||
	additiveLevel                    // + -
	multiplicativeLevel              // * / %
	unaryLevel                       // -a +a
	primaryLevel                     // all others
)

func (p *printer) write(texts ...string) {
	for _, text := range texts {
		p.text = append(p.text, text...)
	}
}

// operand writes an expression at a position that requires a level.
func (p *printer) operand(e expression, at level) {
	if e.(printed).level() >= at {
		p.print(e)
		return
	}
	p.write("(")
	p.print(e)
	p.write(")")
}

func (p *printer) print(e expression) { e.(printed).print(p) }

// String returns the query's canonical text. Parse returns an equal query for it.
func (q *Query) String() string { return q.tree.print() }

func (p *printer) list(expressions []expression) {
	for i, e := range expressions {
		if i > 0 {
			p.write(", ")
		}
		p.print(e)
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
		p.print(t.where)
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
		p.print(s.expression)
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
	if n, _ := e.value.AsNumber(); math.IsInf(n, 0) {
		p.write("Infinity")
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
		p.write("(") // a dot after a number would be its decimal point
		p.print(e.base)
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
		p.print(s.index)
		p.write("]")
	}
}

func (e *unary) print(p *printer) {
	if e.operator == "NOT" {
		p.write("NOT ")
		if inner, ok := e.operand.(*unary); ok && inner.operator == "NOT" {
			p.print(inner)
			return
		}
		p.operand(e.operand, unaryLevel)
		return
	}
	p.write(e.operator)
	p.operand(e.operand, primaryLevel) // two minus signs would begin a comment
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
	p.print(e.then)
	p.write(" : ")
	if next, ok := e.otherwise.(*conditional); ok {
		p.print(next)
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
		p.print(e.values[i])
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
	p.print(e.argument)
	p.write(")")
}

func (item) level() level           { return primaryLevel }
func (*literal) level() level       { return primaryLevel }
func (*parameter) level() level     { return primaryLevel }
func (*property) level() level      { return primaryLevel }
func (*access) level() level        { return primaryLevel }
func (*comparison) level() level    { return comparisonLevel }
func (*membership) level() level    { return comparisonLevel }
func (*between) level() level       { return comparisonLevel }
func (*conditional) level() level   { return conditionalLevel }
func (*arrayLiteral) level() level  { return primaryLevel }
func (*objectLiteral) level() level { return primaryLevel }
func (*call) level() level          { return primaryLevel }
func (*aggregate) level() level     { return primaryLevel }

func (e *unary) level() level {
	if e.operator == "NOT" {
		return notLevel
	}
	return unaryLevel
}

func (e *infix) level() level { return infixLevels[e.operators[0]] }

var infixLevels = map[string]level{
	"??": conditionalLevel, "OR": orLevel, "AND": andLevel, "||": comparisonLevel,
	"+": additiveLevel, "-": additiveLevel, "*": multiplicativeLevel, "/": multiplicativeLevel, "%": multiplicativeLevel,
}

// isName reports whether a property may be written with a dot, c.name.
func isName(word string) bool {
	if word == "" || !isLetter(word[0]) {
		return false
	}
	for i := 1; i < len(word); i++ {
		if !isLetter(word[i]) && !isDigit(word[i]) {
			return false
		}
	}
	kind, _ := nameOrKeyword(word)
	return kind == nameToken
}
