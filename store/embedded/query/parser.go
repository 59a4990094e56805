package query

import (
	"math"
	"strings"
	"unicode/utf8"
)

// maxNesting is how deeply expressions may nest in each other. It keeps the parser, and whatever walks the tree, from
// exhausting the stack. The limit is ours.
const maxNesting = 200

// parser reads a query by recursive descent, a method for each rule. A method is called where its rule begins and
// leaves token at the first word after it. The clauses are in this file, the expressions in expression.go.
type parser struct {
	lexer
	token token // the next one, not yet read
	depth int   // of the expression that is being read

	tree       tree
	references []reference
	selecting  bool // SELECT is being read, where aggregates may be
	inside     bool // an aggregate's argument is being read
}

// reference is a name that must turn out to be the item's once FROM is known.
type reference struct {
	name string
	at   int
	bare bool // it is in SELECT and in no aggregate
}

// parse runs one of the parser's rules over a text.
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

// recoverSyntaxError ends the panic by which a fault leaves the parser or the binder, and no other.
func recoverSyntaxError(err *error) {
	switch fault := recover().(type) {
	case nil:
	case *SyntaxError:
		*err = fault
	default:
		panic(fault)
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

// advance reads the token and gives it.
func (p *parser) advance() token {
	read := p.token
	p.token = p.next()
	return read
}

// sees tells whether the next token is a symbol or keyword; takes reads it if it is; expect demands it.
func (p *parser) sees(text string) bool {
	return p.token.text == text && (p.token.kind == symbolToken || p.token.kind == keywordToken)
}

func (p *parser) takes(text string) bool {
	if !p.sees(text) {
		return false
	}
	p.advance()
	return true
}

func (p *parser) expect(text string) token {
	if !p.sees(text) {
		p.unexpected("‘" + text + "’")
	}
	return p.advance()
}

// unexpected fails at the token, saying what should be in its place.
func (p *parser) unexpected(wanted string) {
	p.fail(p.token.at, "Found "+p.token.described(p.text)+" where "+wanted+" should be")
}

// refused are the clauses that the language has and this engine has not, by the keyword that begins them.
var refused = map[string]string{
	"JOIN": "JOIN is not supported", "GROUP": "GROUP BY is not supported", "LIKE": "LIKE is not supported",
	"EXISTS": "Subqueries (EXISTS) are not supported", "ARRAY": "Subqueries (ARRAY) are not supported",
	"SELECT": "Subqueries (SELECT) are not supported", "udf": "User-defined functions are not supported",
	"RANK": "ORDER BY RANK is not supported",
}

// refuse fails where the token begins something that is not supported.
func (p *parser) refuse() {
	if p.token.kind == keywordToken && refused[p.token.text] != "" {
		p.fail(p.token.at, refused[p.token.text])
	}
}

func (p *parser) expectEnd() {
	p.refuse()
	if p.sees("LIMIT") {
		p.fail(p.token.at, "LIMIT stands after OFFSET only")
	}
	if p.token.kind != endToken {
		p.unexpected("the end of the query")
	}
}

// query reads a SELECT statement.
func (p *parser) query() {
	p.expect("SELECT")
	p.selectClause()
	if p.takes("FROM") {
		p.from()
	}
	if p.takes("WHERE") {
		p.tree.where = p.expression()
	}
	p.refuse()
	if p.sees("ORDER") {
		p.orderBy()
	}
	if p.takes("OFFSET") {
		p.tree.offset = p.count("OFFSET")
		p.expect("LIMIT")
		p.tree.limit = p.count("LIMIT")
	}
}

// condition reads "FROM c WHERE …".
func (p *parser) condition() {
	p.tree.star = true
	p.expect("FROM")
	p.from()
	p.expect("WHERE")
	p.tree.where = p.expression()
}

func (p *parser) selectClause() {
	p.selecting = true
	p.tree.distinct = p.takes("DISTINCT")
	if p.takes("TOP") {
		p.tree.top = p.count("TOP")
	}
	switch {
	case p.takes("*"):
		p.tree.star = true
	case p.takes("VALUE"):
		p.tree.value = true
		p.tree.selections = []selection{{expression: p.expression()}}
	default:
		p.tree.selections = append(p.tree.selections, p.selection())
		for p.takes(",") {
			p.tree.selections = append(p.tree.selections, p.selection())
		}
	}
	p.selecting = false
}

func (p *parser) selection() selection {
	at := p.token.at
	s := selection{expression: p.expression(), at: position(at)}
	if p.takes("AS") || p.token.kind == nameToken {
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

// from reads the name of the container and its alias. Any name does: a query is sent to its container.
func (p *parser) from() {
	if p.sees("(") {
		p.fail(p.token.at, "Subqueries (FROM) are not supported")
	}
	p.tree.collection = p.name("the name of a container")
	switch {
	case p.sees("IN"):
		p.fail(p.token.at, "FROM with IN is not supported")
	case p.sees("."), p.sees("["):
		p.fail(p.token.at, "FROM with a path is not supported")
	case p.sees(","):
		p.fail(p.token.at, "FROM with several sources is not supported")
	}
	if p.takes("AS") || p.token.kind == nameToken {
		p.tree.alias = p.name("an alias")
	}
	p.refuse()
}

func (p *parser) orderBy() {
	order := p.expect("ORDER")
	p.expect("BY")
	if p.tree.aggregates > 0 {
		p.fail(order.at, "ORDER BY does not go with an aggregate")
	}
	p.tree.order = append(p.tree.order, p.orderItem())
	for p.takes(",") {
		p.tree.order = append(p.tree.order, p.orderItem())
	}
}

func (p *parser) orderItem() OrderItem {
	at := p.token.at
	sorted, ok := p.expression().(*property)
	if !ok {
		p.fail(at, "ORDER BY takes paths of the item's properties only")
	}
	descending := p.takes("DESC")
	if !descending {
		p.takes("ASC")
	}
	return OrderItem{Path: sorted.path, Descending: descending}
}

// count reads the number or parameter of TOP, OFFSET or LIMIT.
func (p *parser) count(clause string) *count {
	t := p.token
	c := &count{clause: clause, at: position(t.at)}
	switch t.kind {
	case parameterToken:
		c.parameter = t.text
	case numberToken:
		n, ok := wholeNumber(t.number)
		if !ok {
			p.fail(t.at, clause+notCount)
		}
		c.number = n
	default:
		p.unexpected("the number or the parameter of " + clause)
	}
	p.advance()
	return c
}

// notCount is said of a number that cannot be counted to.
const notCount = " is a whole number from 0 to 2147483647"

func wholeNumber(n float64) (int, bool) {
	if n < 0 || n > math.MaxInt32 || n != math.Trunc(n) {
		return 0, false
	}
	return int(n), true
}

// checkSelections checks what can only be known once FROM is read: that every name is the item's, that aggregates do
// not stand beside properties, and that no name is selected twice.
func (p *parser) checkSelections() {
	if p.tree.star && p.tree.collection == "" {
		p.fail(0, "SELECT * stands with FROM only")
	}
	for _, r := range p.references {
		p.checkReference(r)
	}
	names := make(map[string]bool, len(p.tree.selections))
	for i, name := range p.tree.outputNames() {
		if names[name] {
			p.fail(int(p.tree.selections[i].at), "SELECT gives the name ‘"+name+"’ twice")
		}
		names[name] = true
	}
}

func (p *parser) checkReference(r reference) {
	switch {
	case r.name == p.tree.itemName():
		if r.bare && p.tree.aggregates > 0 {
			p.fail(r.at, "A property beside an aggregate needs GROUP BY, which is not supported")
		}
	case constants[strings.ToLower(r.name)]:
		p.fail(r.at, "‘"+r.name+"’ is written in lower case")
	case p.tree.collection == "":
		p.fail(r.at, "The name ‘"+r.name+"’ is unknown: the query has no FROM")
	default:
		p.fail(r.at, "The name ‘"+r.name+"’ is unknown: FROM names the item ‘"+p.tree.itemName()+"’")
	}
}
