package query

import "slices"

// The rules of the expressions, weakest operator first:
//
//	expression     = conditional { "??" or }
//	conditional    = or [ "?" expression ":" conditional ]
//	or             = and { "OR" and }
//	and            = not { "AND" not }
//	not            = "NOT" ( not | unary ) | comparison
//	comparison     = additive [ operator additive | [ "NOT" ] "IN" list | [ "NOT" ] "BETWEEN" additive "AND" additive
//	               | "||" additive { "||" additive } ]
//	additive       = multiplicative { ("+" | "-") multiplicative }
//	multiplicative = unary { ("*" | "/" | "%") unary }
//	unary          = ("-" | "+") unary | access
//	access         = primary { "." name | "[" expression "]" }
//
// Where it is not public how the service reads a text, the rules do not read it: comparisons of comparisons, "||" beside
// a comparison, NOT before a comparison, and "?:" beside "??" are refused without parentheses.

// expression reads any expression.
func (p *parser) expression() expression {
	e := p.chain(p.conditional(), p.or, "??")
	p.parenthesize("‘??’ beside a conditional", "?")
	return e
}

func (p *parser) conditional() expression {
	p.enter()
	defer p.leave()
	test := p.or()
	if !p.takes("?") {
		return test
	}
	e := &conditional{test: test, then: p.expression()}
	p.expect(":")
	e.otherwise = p.conditional()
	p.parenthesize("A conditional beside ‘??’", "??")
	return e
}

// enter counts a level of nesting, leave counts it off.
func (p *parser) enter() {
	if p.depth++; p.depth > maxNesting {
		p.fail(p.token.at, "The expression nests too deeply")
	}
}

func (p *parser) leave() { p.depth-- }

// parenthesize fails before one of some operators: what was read does not stand beside it.
func (p *parser) parenthesize(what string, operators ...string) {
	if slices.ContainsFunc(operators, p.sees) {
		p.fail(p.token.at, what+" needs parentheses")
	}
}

// chain reads the rest of a chain of operands, if there is one.
func (p *parser) chain(first expression, operand func() expression, operators ...string) expression {
	if !slices.ContainsFunc(operators, p.sees) {
		return first
	}
	e := &infix{operands: []expression{first}}
	for slices.ContainsFunc(operators, p.sees) {
		e.operators = append(e.operators, p.advance().text)
		e.operands = append(e.operands, operand())
	}
	return e
}

func (p *parser) or() expression  { return p.chain(p.and(), p.and, "OR") }
func (p *parser) and() expression { return p.chain(p.not(), p.not, "AND") }

var comparisonOperators = []string{"=", "!=", "<>", "<", "<=", ">", ">="}

func (p *parser) not() expression {
	if !p.takes("NOT") {
		return p.comparison()
	}
	p.enter()
	defer p.leave()
	if p.sees("NOT") {
		return &unary{operator: "NOT", operand: p.not()}
	}
	e := &unary{operator: "NOT", operand: p.unary()}
	p.parenthesize("NOT before a comparison", "NOT", "IN", "BETWEEN", "LIKE", "||", "+", "-", "*", "/", "%")
	p.parenthesize("NOT before a comparison", comparisonOperators...)
	return e
}

func (p *parser) comparison() expression {
	left := p.additive()
	if p.sees("||") {
		e := p.chain(left, p.additive, "||")
		p.noComparison("‘||’ beside a comparison")
		return e
	}
	var e expression
	switch {
	case slices.ContainsFunc(comparisonOperators, p.sees):
		e = p.comparisonTo(left)
	case p.sees("NOT"), p.sees("IN"), p.sees("BETWEEN"), p.sees("LIKE"):
		e = p.predicate(left)
	default:
		return left
	}
	p.noComparison("A comparison beside another")
	return e
}

// noComparison fails before an operator of the level of comparisons.
func (p *parser) noComparison(what string) {
	p.parenthesize(what, "NOT", "IN", "BETWEEN", "LIKE", "||")
	p.parenthesize(what, comparisonOperators...)
}

func (p *parser) comparisonTo(left expression) expression {
	operator := p.advance().text
	if operator == "<>" {
		operator = "!="
	}
	return &comparison{operator: operator, left: left, right: p.additive()}
}

// predicate reads IN or BETWEEN, with NOT before it or without.
func (p *parser) predicate(left expression) expression {
	not := p.takes("NOT")
	p.refuse() // LIKE
	if p.takes("BETWEEN") {
		e := &between{operand: left, low: p.additive(), not: not}
		p.expect("AND")
		e.high = p.additive()
		return e
	}
	p.expect("IN")
	p.expect("(")
	p.refuse() // a subquery
	return &membership{needle: left, list: p.list(")"), not: not}
}

// list reads expressions, one at least, and the bracket that closes them.
func (p *parser) list(closing string) []expression {
	items := []expression{p.expression()}
	for p.takes(",") {
		items = append(items, p.expression())
	}
	p.expect(closing)
	return items
}

func (p *parser) additive() expression {
	return p.chain(p.multiplicative(), p.multiplicative, "+", "-")
}
func (p *parser) multiplicative() expression {
	return p.chain(p.unary(), p.unary, "*", "/", "%")
}

func (p *parser) unary() expression {
	if !p.sees("-") && !p.sees("+") {
		return p.access()
	}
	p.enter()
	defer p.leave()
	return &unary{operator: p.advance().text, operand: p.unary()}
}

func (p *parser) access() expression {
	base := p.primary()
	var steps []step
	for {
		switch {
		case p.takes("."):
			steps = append(steps, step{name: p.propertyName()})
		case p.takes("["):
			steps = append(steps, p.index())
		case len(steps) == 0:
			return base
		default:
			return follow(base, steps)
		}
	}
}

func (p *parser) propertyName() string {
	if p.token.kind == keywordToken {
		written := p.text[p.token.at:p.token.end]
		p.fail(p.token.at, "‘"+written+"’ is a keyword; as a property it is written [\""+written+"\"]")
	}
	return p.name("a property's name")
}

func (p *parser) index() step {
	e := p.expression()
	p.expect("]")
	return stepTo(e)
}

// stepTo makes a step of an index: a constant string is a property's name.
func stepTo(index expression) step {
	if l, ok := index.(*literal); ok {
		if name, ok := l.value.AsString(); ok {
			return step{name: name}
		}
	}
	return step{index: index}
}
