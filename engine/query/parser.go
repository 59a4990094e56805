package query

import (
	"math"
	"strings"
	"unicode/utf8"
)

// maxNesting is the maximum nesting of expressions. It keeps the parser and other functions that
// walk the tree from exhausting the stack. The limit is ours.
const maxNesting = 200

// parser is a recursive-descent parser with one method for each rule. When a method is called,
// token is the first token of its rule. When it returns, token is the first one after the rule.
// Clauses are in this file, expressions in expression.go.
type parser struct {
	lexer
	token token // the next token, not yet consumed
	depth int   // nesting of the current expression

	tree       tree
	references []reference
	selecting  bool // parsing SELECT, in which aggregates are allowed
	inside     bool // parsing the argument of an aggregate
}

// reference is a name that is checked against the item's name once FROM is parsed.
type reference struct {
	name string
	at   int
	bare bool // in SELECT, outside of aggregates
}

// parse applies a grammar rule to a whole text.
func parse(text string, rule func(*parser)) (q *Query, err error) {
	defer recoverSyntaxError(&err)
	p := &parser{lexer: lexer{text: text}}
	p.checkUTF8()
	p.advance()
	rule(p)
	p.expectEnd()
	p.checkSelections()
	return &Query{text: text, tree: p.tree}, nil
}

// recoverSyntaxError recovers the panic of a *SyntaxError from the parser or the binder. Other
// panics continue.
func recoverSyntaxError(err *error) {
	switch thrown := recover().(type) {
	case nil:
	case *SyntaxError:
		*err = thrown
	default:
		panic(thrown)
	}
}

func (p *parser) checkUTF8() {
	for at, r := range p.text {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(p.text[at:]); size == 1 {
				p.fail(at, "The query is not UTF-8")
			}
		}
	}
}

// advance consumes the next token and returns it.
func (p *parser) advance() token {
	read := p.token
	p.token = p.next()
	return read
}

// nextIs reports whether the next token is the given symbol or keyword. accept consumes the token
// if it is; expect fails if it is not.
func (p *parser) nextIs(text string) bool {
	return p.token.text == text && (p.token.kind == symbolToken || p.token.kind == keywordToken)
}

func (p *parser) accept(text string) bool {
	if !p.nextIs(text) {
		return false
	}
	p.advance()
	return true
}

func (p *parser) expect(text string) token {
	if !p.nextIs(text) {
		p.unexpected("‘" + text + "’")
	}
	return p.advance()
}

// unexpected reports the next token as an error and names what was expected.
func (p *parser) unexpected(expected string) {
	p.fail(p.token.at, "Expected "+expected+", found "+p.token.described(p.text))
}

// unsupported maps the first keyword of a clause that this engine lacks to the error message.
var unsupported = map[string]string{
	"JOIN": "JOIN is not supported", "GROUP": "GROUP BY is not supported", "LIKE": "LIKE is not supported",
	"EXISTS": "Subqueries (EXISTS) are not supported", "ARRAY": "Subqueries (ARRAY) are not supported",
	"SELECT": "Subqueries (SELECT) are not supported", "udf": "User-defined functions are not supported",
	"RANK": "ORDER BY RANK is not supported",
}

// rejectUnsupported fails if the next token begins an unsupported clause.
func (p *parser) rejectUnsupported() {
	if p.token.kind == keywordToken && unsupported[p.token.text] != "" {
		p.fail(p.token.at, unsupported[p.token.text])
	}
}

func (p *parser) expectEnd() {
	p.rejectUnsupported()
	if p.nextIs("LIMIT") {
		p.fail(p.token.at, "LIMIT is allowed after OFFSET only")
	}
	if p.token.kind != endToken {
		p.unexpected("the end of the query")
	}
}

// query parses a SELECT statement.
func (p *parser) query() {
	p.expect("SELECT")
	p.selectClause()
	if p.accept("FROM") {
		p.from()
	}
	if p.accept("WHERE") {
		p.tree.where = p.expression()
	}
	p.rejectUnsupported()
	if p.nextIs("ORDER") {
		p.orderBy()
	}
	if p.accept("OFFSET") {
		p.tree.offset = p.count("OFFSET")
		p.expect("LIMIT")
		p.tree.limit = p.count("LIMIT")
	}
}

// condition parses "FROM c WHERE …".
func (p *parser) condition() {
	p.tree.star = true
	p.expect("FROM")
	p.from()
	p.expect("WHERE")
	p.tree.where = p.expression()
}

func (p *parser) selectClause() {
	p.selecting = true
	p.tree.distinct = p.accept("DISTINCT")
	if p.accept("TOP") {
		p.tree.top = p.count("TOP")
	}
	switch {
	case p.accept("*"):
		p.tree.star = true
	case p.accept("VALUE"):
		p.tree.value = true
		p.tree.selections = []selection{{expression: p.expression()}}
	default:
		p.tree.selections = append(p.tree.selections, p.selection())
		for p.accept(",") {
			p.tree.selections = append(p.tree.selections, p.selection())
		}
	}
	p.selecting = false
}

func (p *parser) selection() selection {
	at := p.token.at
	s := selection{expression: p.expression(), at: position(at)}
	if p.accept("AS") || p.token.kind == nameToken {
		s.alias = p.name("an alias")
	}
	return s
}

func (p *parser) name(wanted string) string {
	if p.token.kind != nameToken {
		p.unexpected(wanted)
	}
	return p.advance().text
}

// from parses the name of the container and its alias. Any name is accepted, because the request
// addresses the container.
func (p *parser) from() {
	if p.nextIs("(") {
		p.fail(p.token.at, "Subqueries (FROM) are not supported")
	}
	p.tree.collection = p.name("the name of a container")
	switch {
	case p.nextIs("IN"):
		p.fail(p.token.at, "FROM with IN is not supported")
	case p.nextIs("."), p.nextIs("["):
		p.fail(p.token.at, "FROM with a path is not supported")
	case p.nextIs(","):
		p.fail(p.token.at, "FROM with several sources is not supported")
	}
	if p.accept("AS") || p.token.kind == nameToken {
		p.tree.alias = p.name("an alias")
	}
	p.rejectUnsupported()
}

func (p *parser) orderBy() {
	p.expect("ORDER")
	p.expect("BY")
	p.tree.order = append(p.tree.order, p.orderItem())
	for p.accept(",") {
		p.tree.order = append(p.tree.order, p.orderItem())
	}
}

func (p *parser) orderItem() OrderItem {
	at := p.token.at
	sorted, ok := p.expression().(*property)
	if !ok {
		p.fail(at, "ORDER BY accepts only paths of the item's properties")
	}
	descending := p.accept("DESC")
	if !descending {
		p.accept("ASC")
	}
	return OrderItem{Path: sorted.path, Descending: descending}
}

// count parses the number or parameter of TOP, OFFSET or LIMIT.
func (p *parser) count(clause string) *count {
	t := p.token
	c := &count{clause: clause, at: position(t.at)}
	switch t.kind {
	case parameterToken:
		c.parameter = t.text
		p.advance()
	case numberToken:
		written, _ := p.number().AsNumber()
		n, ok := wholeNumber(written)
		if !ok {
			p.fail(t.at, clause+notCount)
		}
		c.number = n
	default:
		p.unexpected("the number or the parameter of " + clause)
	}
	return c
}

// notCount is the error text for a number that is not a valid count.
const notCount = " must be a whole number from 0 to 2147483647"

func wholeNumber(n float64) (int, bool) {
	if n < 0 || n > math.MaxInt32 || n != math.Trunc(n) {
		return 0, false
	}
	return int(n), true
}

// checkSelections checks what depends on FROM: every name refers to the item, aggregates are not
// mixed with properties, and no output name occurs twice.
func (p *parser) checkSelections() {
	if p.tree.star && p.tree.collection == "" {
		p.fail(0, "SELECT * needs FROM")
	}
	for _, r := range p.references {
		p.checkReference(r)
	}
	names := make(map[string]bool, len(p.tree.selections))
	for i, name := range p.tree.outputNames() {
		if names[name] {
			p.fail(int(p.tree.selections[i].at), "SELECT has two results named ‘"+name+"’")
		}
		names[name] = true
	}
}

func (p *parser) checkReference(r reference) {
	switch {
	case r.name == p.tree.itemName():
		if r.bare && p.tree.aggregates > 0 {
			p.fail(r.at, "A property next to an aggregate needs GROUP BY, which is not supported")
		}
	case constants[strings.ToLower(r.name)]:
		p.fail(r.at, "‘"+r.name+"’ must be in lower case")
	case p.tree.collection == "":
		p.fail(r.at, "The name ‘"+r.name+"’ is unknown: the query has no FROM")
	default:
		p.fail(r.at, "The name ‘"+r.name+"’ is unknown: FROM names the item ‘"+p.tree.itemName()+"’")
	}
}
