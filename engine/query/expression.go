package query

import "slices"

// The grammar of expressions, weakest operator first:
//
//	expression     = conditional { "??" or }
//	conditional    = or [ "?" expression ":" conditional ]
//	or             = and { "OR" and }
//	and            = not { "AND" not }
//	not            = "NOT" ( not | unary ) | comparison
//	comparison     = additive [ operator additive
//	               | [ "NOT" ] "IN" list
//	               | [ "NOT" ] "BETWEEN" additive "AND" additive
//	               | "||" additive { "||" additive } ]
//	additive       = multiplicative { ("+" | "-") multiplicative }
//	multiplicative = unary { ("*" | "/" | "%") unary }
//	unary          = ("-" | "+") unary | access
//	access         = primary { "." name | "[" expression "]" }
//
// Some combinations need parentheses because their precedence in the service is not public:
// comparisons of comparisons, "||" next to a comparison, NOT before a comparison, and "?:" next to
// "??".

func (p *parser) expression() expression {
	e := p.chain(p.conditional(), p.or, "??")
	p.requireParentheses("‘??’ next to a conditional", "?")
	return e
}

func (p *parser) conditional() expression {
	p.enter()
	defer p.leave()
	test := p.or()
	if !p.accept("?") {
		return test
	}
	e := &conditional{test: test, then: p.expression()}
	p.expect(":")
	e.otherwise = p.conditional()
	p.requireParentheses("A conditional next to ‘??’", "??")
	return e
}

// enter adds a level of nesting and rejects too many; leave removes the level.
func (p *parser) enter() {
	if p.depth++; p.depth > maxNesting {
		p.fail(p.token.at, "The expression is nested too deeply")
	}
}

func (p *parser) leave() { p.depth-- }

// requireParentheses rejects one of the operators after the construct that was just parsed.
func (p *parser) requireParentheses(what string, operators ...string) {
	if slices.ContainsFunc(operators, p.nextIs) {
		p.fail(p.token.at, what+" needs parentheses")
	}
}

// chain parses the rest of a chain of operands. It returns first if no operator follows.
func (p *parser) chain(first expression, operand func() expression, operators ...string) expression {
	if !slices.ContainsFunc(operators, p.nextIs) {
		return first
	}
	e := &infix{operands: []expression{first}}
	for slices.ContainsFunc(operators, p.nextIs) {
		e.operators = append(e.operators, p.advance().text)
		e.operands = append(e.operands, operand())
	}
	return e
}

func (p *parser) or() expression  { return p.chain(p.and(), p.and, "OR") }
func (p *parser) and() expression { return p.chain(p.not(), p.not, "AND") }

var comparisonOperators = []string{"=", "!=", "<>", "<", "<=", ">", ">="}

func (p *parser) not() expression {
	if !p.accept("NOT") {
		return p.comparison()
	}
	p.enter()
	defer p.leave()
	if p.nextIs("NOT") {
		return &unary{operator: "NOT", operand: p.not()}
	}
	e := &unary{operator: "NOT", operand: p.unary()}
	p.requireParentheses("NOT before a comparison", "NOT", "IN", "BETWEEN", "LIKE", "||", "+", "-", "*", "/", "%")
	p.requireParentheses("NOT before a comparison", comparisonOperators...)
	return e
}

func (p *parser) comparison() expression {
	left := p.additive()
	if p.nextIs("||") {
		e := p.chain(left, p.additive, "||")
		p.noComparison("‘||’ next to a comparison")
		return e
	}
	var e expression
	switch {
	case slices.ContainsFunc(comparisonOperators, p.nextIs):
		e = p.comparisonTo(left)
	case p.nextIs("NOT"), p.nextIs("IN"), p.nextIs("BETWEEN"), p.nextIs("LIKE"):
		e = p.predicate(left)
	default:
		return left
	}
	p.noComparison("A comparison next to another")
	return e
}

// noComparison rejects an operator with the precedence of comparisons.
func (p *parser) noComparison(what string) {
	p.requireParentheses(what, "NOT", "IN", "BETWEEN", "LIKE", "||")
	p.requireParentheses(what, comparisonOperators...)
}

func (p *parser) comparisonTo(left expression) expression {
	operator := p.advance().text
	if operator == "<>" {
		operator = "!="
	}
	return &comparison{operator: operator, left: left, right: p.additive()}
}

// predicate parses [NOT] IN or [NOT] BETWEEN.
func (p *parser) predicate(left expression) expression {
	not := p.accept("NOT")
	p.rejectUnsupported() // LIKE
	if p.accept("BETWEEN") {
		e := &between{operand: left, low: p.additive(), not: not}
		p.expect("AND")
		e.high = p.additive()
		return e
	}
	p.expect("IN")
	p.expect("(")
	p.rejectUnsupported() // a subquery
	return &membership{needle: left, list: p.list(")"), not: not}
}

// list parses one or more expressions and the closing bracket.
func (p *parser) list(closing string) []expression {
	items := []expression{p.expression()}
	for p.accept(",") {
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
	if !p.nextIs("-") && !p.nextIs("+") {
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
		case p.accept("."):
			steps = append(steps, step{name: p.propertyName()})
		case p.accept("["):
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
		p.fail(p.token.at, "‘"+written+"’ is a keyword; write the property as [\""+written+"\"]")
	}
	return p.name("a property name")
}

func (p *parser) index() step {
	e := p.expression()
	p.expect("]")
	return stepTo(e)
}

// stepTo returns the step of an index expression. A constant string becomes a property name.
func stepTo(index expression) step {
	if l, ok := index.(*literal); ok {
		if name, ok := l.value.AsString(); ok {
			return step{name: name}
		}
	}
	return step{index: index}
}
