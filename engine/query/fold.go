package query

import (
	"slices"

	"cosmosblog/engine/value"
)

// binder folds a tree: it replaces parameters with their values and evaluates constant
// expressions. Conditions can then be read from the tree, and nothing is computed twice.
// Unchanged nodes are shared.
type binder struct {
	parameters Parameters
	text       string       // of the query, for the positions of errors
	aggregates []*aggregate // folded, by slot
	constants  scope        // scope in which constants are evaluated
	reads      []string     // top properties in the folded expressions
	readsItem  bool         // the item itself is in one of them
}

// read records that the query reads a property.
func (b *binder) read(name string) {
	if !slices.Contains(b.reads, name) {
		b.reads = append(b.reads, name)
	}
}

// fail panics with a *SyntaxError, as lexer.fail does.
func (b *binder) fail(at position, message string) { panic(syntaxError(b.text, int(at), message)) }

func (b *binder) parameter(name string, at position) value.Value {
	v, ok := b.parameters[name]
	if !ok {
		b.fail(at, "The parameter "+name+" has no value")
	}
	return v
}

// count returns the number of a clause, or otherwise if the query lacks the clause.
func (b *binder) count(c *count, otherwise int) int {
	if c == nil {
		return otherwise
	}
	if c.parameter == "" {
		return c.number
	}
	number, ok := b.parameter(c.parameter, c.at).AsNumber()
	n, whole := wholeNumber(number)
	if !ok || !whole {
		b.fail(c.at, c.clause+notCount)
	}
	return n
}

func (b *binder) list(expressions []expression) []expression {
	folded := make([]expression, len(expressions))
	for i, e := range expressions {
		folded[i] = e.fold(b)
	}
	return folded
}

// evaluated returns the value of e as a literal if all its operands are literals, and e
// otherwise.
func (b *binder) evaluated(e expression, operands ...expression) expression {
	for _, operand := range operands {
		if _, ok := operand.(*literal); !ok {
			return e
		}
	}
	b.constants.noJSON = false
	v := e.compile()(&b.constants)
	if b.constants.exhausted() {
		b.fail(0, "The constant expressions of the query take too much memory or time")
	}
	return &literal{v, b.constants.noJSON}
}

func (e *literal) fold(*binder) expression     { return e }
func (e *parameter) fold(b *binder) expression { return &literal{value: b.parameter(e.name, e.at)} }

func (e item) fold(b *binder) expression {
	b.readsItem = true
	return e
}

func (e *property) fold(b *binder) expression {
	b.read(e.path[0])
	return e
}

func (e *access) fold(b *binder) expression {
	base, steps := e.base.fold(b), make([]step, len(e.steps))
	operands := []expression{base}
	for i, s := range e.steps {
		if s.index != nil {
			index := s.index.fold(b)
			s, operands = stepTo(index), append(operands, index)
		}
		steps[i] = s
	}
	return b.evaluated(follow(base, steps), operands...)
}

func (e *unary) fold(b *binder) expression {
	operand := e.operand.fold(b)
	return b.evaluated(&unary{e.operator, operand}, operand)
}

func (e *infix) fold(b *binder) expression {
	operands := b.list(e.operands)
	return b.evaluated(&infix{e.operators, operands}, operands...)
}

func (e *comparison) fold(b *binder) expression {
	left, right := e.left.fold(b), e.right.fold(b)
	return b.evaluated(&comparison{e.operator, left, right}, left, right)
}

func (e *membership) fold(b *binder) expression {
	folded := &membership{e.needle.fold(b), b.list(e.list), e.not}
	if _, ok := folded.needle.(*literal); !ok {
		return folded
	}
	return b.evaluated(folded, folded.list...)
}

func (e *between) fold(b *binder) expression {
	operand, low, high := e.operand.fold(b), e.low.fold(b), e.high.fold(b)
	return b.evaluated(&between{operand, low, high, e.not}, operand, low, high)
}

func (e *conditional) fold(b *binder) expression {
	test, then, otherwise := e.test.fold(b), e.then.fold(b), e.otherwise.fold(b)
	return b.evaluated(&conditional{test, then, otherwise}, test, then, otherwise)
}

func (e *arrayLiteral) fold(b *binder) expression {
	elements := b.list(e.elements)
	return b.evaluated(&arrayLiteral{elements}, elements...)
}

func (e *objectLiteral) fold(b *binder) expression {
	values := b.list(e.values)
	return b.evaluated(&objectLiteral{e.names, values}, values...)
}

func (e *call) fold(b *binder) expression {
	arguments := b.list(e.arguments)
	return b.evaluated(&call{e.name, arguments}, arguments...)
}

// fold keeps the aggregate even if its argument is constant: COUNT(1) depends on the number of
// items.
func (e *aggregate) fold(b *binder) expression {
	folded := &aggregate{e.name, e.argument.fold(b), e.slot}
	b.aggregates[e.slot] = folded
	return folded
}
