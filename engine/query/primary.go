package query

import (
	"math"
	"strings"

	"cosmosblog/engine/value"
)

// primary parses an expression without operators: a name, a constant, a call, an array, an
// object, or an expression in parentheses.
func (p *parser) primary() expression {
	switch t := p.token; t.kind {
	case nameToken:
		return p.nameOrCall()
	case parameterToken:
		p.advance()
		return &parameter{name: t.text, at: position(t.at)}
	case numberToken:
		return &literal{value: p.number()}
	case stringToken:
		p.advance()
		return &literal{value: value.String(t.text)}
	case keywordToken:
		return p.constantOrCall()
	}
	switch {
	case p.accept("("):
		p.rejectUnsupported() // a subquery
		e := p.expression()
		p.expect(")")
		return e
	case p.accept("["):
		return p.array()
	case p.accept("{"):
		return p.object()
	}
	p.unexpected("an expression")
	return nil
}

// number parses a number without a sign.
func (p *parser) number() value.Value {
	t := p.advance()
	v, err := value.ParseNumber(t.text)
	if err != nil {
		p.fail(t.at, "Number out of range")
	}
	return v
}

func (p *parser) constantOrCall() expression {
	switch t := p.token; t.text {
	case "null":
		p.advance()
		return &literal{value: value.Null}
	case "true", "false":
		p.advance()
		return &literal{value: value.Bool(t.text == "true")}
	case "undefined":
		p.advance()
		return &literal{value: value.Undefined}
	case "LEFT", "RIGHT":
		return p.call(p.advance())
	}
	p.rejectUnsupported()
	p.unexpected("an expression")
	return nil
}

// infinite are constants that JSON does not have. The documentation uses them (TOSTRING,
// STRINGTONUMBER), the SDK's grammar has only their names.
var infinite = map[string]*literal{"NaN": {value.Number(math.NaN()), true}, "Infinity": {value.Number(math.Inf(1)), true}}

func (p *parser) nameOrCall() expression {
	t := p.advance()
	if p.nextIs("(") {
		return p.call(t)
	}
	if constant := infinite[t.text]; constant != nil && !p.nextIs(".") && !p.nextIs("[") {
		return constant
	}
	p.references = append(p.references, reference{name: t.text, at: t.at, bare: p.selecting && !p.inside})
	return item{}
}

func (p *parser) array() expression {
	if p.accept("]") {
		return &arrayLiteral{}
	}
	return &arrayLiteral{p.list("]")}
}

func (p *parser) object() expression {
	e := &objectLiteral{}
	if p.accept("}") {
		return e
	}
	seen := make(map[string]bool)
	for {
		name := p.token
		if name.kind != stringToken && name.kind != nameToken {
			p.unexpected("a property name")
		}
		if seen[name.text] {
			p.fail(name.at, "The object has two properties ‘"+name.text+"’")
		}
		seen[name.text] = true
		p.advance()
		p.expect(":")
		e.names, e.values = append(e.names, name.text), append(e.values, p.expression())
		if !p.accept(",") {
			p.expect("}")
			return e
		}
	}
}

// call parses the arguments of a function or an aggregate after its name.
func (p *parser) call(name token) expression {
	upper := strings.ToUpper(name.text)
	p.expect("(")
	if aggregates[upper] != nil {
		return p.aggregate(name, upper)
	}
	f, ok := functions[upper]
	if !ok {
		p.fail(name.at, "The function "+upper+" is not supported")
	}
	e := &call{name: upper}
	if !p.accept(")") {
		e.arguments = p.list(")")
	}
	if n := len(e.arguments); n < f.least || n > f.most {
		p.fail(name.at, upper+" takes "+f.arity())
	}
	return e
}

func (p *parser) aggregate(name token, upper string) expression {
	switch {
	case p.inside:
		p.fail(name.at, "An aggregate is not allowed inside another")
	case !p.selecting:
		p.fail(name.at, "An aggregate is allowed in SELECT only")
	case p.nextIs("*"):
		p.fail(p.token.at, upper+"(*) is not supported; write "+upper+"(1)")
	}
	p.inside = true
	argument := p.expression()
	p.inside = false
	p.expect(")")
	p.tree.aggregates++
	return &aggregate{name: upper, argument: argument, slot: p.tree.aggregates - 1}
}
