// Package syntax parses GraphQL documents with operations and fragments into gqlparser's tree.
//
// The grammar is that of the edition of September 2025 (sections 2.1 to 2.12,
// "ExecutableDocument"). gqlparser's own parser has another one: it rejects control characters in
// comments and strings, removes the indentation of block strings by their first line too, lets a
// number end in a letter, turns unpaired surrogates into U+FFFD, and accepts variables of fragments
// and in constants.
//
// The limits of a text are checked while it is parsed, so that no document takes more memory than
// they allow.
package syntax

import (
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"cosmosblog/blog"
	"cosmosblog/guard/limits"
)

// Parse returns the document of a query, a text in UTF-8, and the number of its tokens. Names and
// values in the tree share the memory of the query. Positions have a line, and a column in
// characters (code points), both from 1.
//
// The error is one for the client, with its position: GRAPHQL_PARSE_FAILED, or LIMIT_EXCEEDED if
// the query is longer than l.QueryBytes, or has more than l.Tokens tokens, limits.Lines lines,
// limits.WordBytes bytes in a name or a number, or limits.NestedValues lists or objects in one
// another. It repeats nothing of the query.
func Parse(query string, l limits.Limits) (document *ast.QueryDocument, tokens int, err *gqlerror.Error) {
	source := &ast.Source{Input: query}
	start := &ast.Position{Line: 1, Column: 1, Src: source}
	if len(query) > l.QueryBytes {
		return nil, 0, AboveLimit(start, "The query is longer than %d bytes. Send long texts in variables.", l.QueryBytes)
	}
	if strings.Count(query, "\n")+strings.Count(query, "\r") > limits.Lines {
		return nil, 0, AboveLimit(start, "The query has more than %d lines. Send long texts in variables.", limits.Lines)
	}
	p := parser{lexer: lexer{source: source, text: query, line: 1}, maxTokens: l.Tokens}
	defer func() {
		if recovered := recover(); recovered != nil {
			failed, ok := recovered.(failure)
			if !ok {
				panic(recovered)
			}
			document, tokens, err = nil, 0, failed.err
		}
	}()
	p.advance()
	return p.document(), p.tokens, nil
}

// failure is the panic value that ends the parsing of a query.
type failure struct{ err *gqlerror.Error }

// fail ends the parsing with a syntax error.
func fail(at *ast.Position, format string, args ...any) {
	panic(failure{Errorf(blog.GraphQLParseFailed, at, format, args...)})
}

// Errorf returns an error about a document for the client, with its location unless at is nil.
func Errorf(code blog.Code, at *ast.Position, format string, args ...any) *gqlerror.Error {
	err := blog.Errorf(code, format, args...)
	located := &gqlerror.Error{Err: err, Message: err.Message}
	if at != nil {
		located.Locations = []gqlerror.Location{{Line: at.Line, Column: at.Column}}
	}
	return located
}

// AboveLimit returns a LIMIT_EXCEEDED error about a document, with its location unless at is nil.
func AboveLimit(at *ast.Position, format string, args ...any) *gqlerror.Error {
	return Errorf(blog.LimitExceeded, at, format, args...)
}

// parser parses the tokens of a lexer. Its methods are named after what they parse, and end with a
// panic (failure) if it is not there.
type parser struct {
	lexer
	token     token // the next one
	tokens    int   // those before it
	maxTokens int
	nested    int // lists and objects around the next token, in a value or a type
}

// advance reads the next token, and returns the one before it.
func (p *parser) advance() token {
	before := p.token
	p.token = p.read()
	if before.kind == 0 { // the first one
		return before
	}
	if p.tokens++; p.tokens >= p.maxTokens && p.token.kind != endOfQuery {
		panic(failure{AboveLimit(p.position(), "The query has more than %d tokens.", p.maxTokens)})
	}
	return before
}

// position returns the position of the next token.
func (p *parser) position() *ast.Position {
	return &ast.Position{Line: p.token.line, Column: p.token.column, Src: p.source}
}

func (p *parser) isKeyword(word string) bool { return p.token.kind == name && p.token.value == word }

// skip passes a token of a kind if it is the next one.
func (p *parser) skip(k kind) bool {
	if p.token.kind != k {
		return false
	}
	p.advance()
	return true
}

func (p *parser) expect(k kind) token {
	if p.token.kind != k {
		p.unexpected(k.String())
	}
	return p.advance()
}

func (p *parser) unexpected(wanted string) {
	fail(p.position(), "The query has a syntax error: expected %s, found %s.", wanted, p.token.kind)
}

func (p *parser) document() *ast.QueryDocument {
	document := &ast.QueryDocument{Position: p.position()}
	for p.token.kind != endOfQuery {
		if p.token.kind == braceLeft {
			at := p.position()
			document.Operations = append(document.Operations,
				&ast.OperationDefinition{Operation: ast.Query, SelectionSet: p.selectionSet(), Position: at})
			continue
		}
		p.description()
		if p.isKeyword("fragment") {
			document.Fragments = append(document.Fragments, p.fragment())
		} else {
			document.Operations = append(document.Operations, p.operation())
		}
	}
	return document
}

// description passes a description. Nothing reads those of requests.
func (p *parser) description() {
	if p.token.kind == text || p.token.kind == blockText {
		p.advance()
	}
}

func (p *parser) operation() *ast.OperationDefinition {
	operation := &ast.OperationDefinition{Position: p.position()}
	switch { // the names of kinds must not keep a query in memory
	case p.isKeyword("query"):
		operation.Operation = ast.Query
	case p.isKeyword("mutation"):
		operation.Operation = ast.Mutation
	case p.isKeyword("subscription"):
		operation.Operation = ast.Subscription
	default:
		p.unexpected("an operation or a fragment")
	}
	p.advance()
	if p.token.kind == name {
		operation.Name = p.advance().value
	}
	if p.skip(parenLeft) {
		for ok := true; ok; ok = p.token.kind != parenRight {
			operation.VariableDefinitions = append(operation.VariableDefinitions, p.variable())
		}
		p.advance()
	}
	operation.Directives = p.directives(false)
	operation.SelectionSet = p.selectionSet()
	return operation
}

func (p *parser) variable() *ast.VariableDefinition {
	p.description()
	variable := &ast.VariableDefinition{Position: p.position()}
	p.expect(dollar)
	variable.Variable = p.expect(name).value
	p.expect(colon)
	variable.Type = p.typeReference()
	if p.skip(equals) {
		variable.DefaultValue = p.value(true)
	}
	variable.Directives = p.directives(true)
	return variable
}

func (p *parser) typeReference() *ast.Type {
	t := &ast.Type{Position: p.position()}
	if p.skip(bracketLeft) {
		p.enter(t.Position)
		t.Elem = p.typeReference()
		p.leave()
		p.expect(bracketRight)
	} else {
		t.NamedType = p.expect(name).value
	}
	t.NonNull = p.skip(bang)
	return t
}

func (p *parser) fragment() *ast.FragmentDefinition {
	fragment := &ast.FragmentDefinition{Position: p.position()}
	p.advance()
	if p.isKeyword("on") {
		p.unexpected("the name of the fragment")
	}
	fragment.Name = p.expect(name).value
	if !p.isKeyword("on") {
		p.unexpected("`on`")
	}
	p.advance()
	fragment.TypeCondition = p.expect(name).value
	fragment.Directives = p.directives(false)
	fragment.SelectionSet = p.selectionSet()
	return fragment
}

func (p *parser) selectionSet() ast.SelectionSet {
	p.expect(braceLeft)
	var selections ast.SelectionSet
	for ok := true; ok; ok = p.token.kind != braceRight {
		selections = append(selections, p.selection())
	}
	p.advance()
	return selections
}

func (p *parser) selection() ast.Selection {
	if p.token.kind != spread {
		return p.field()
	}
	at := p.position()
	p.advance()
	isTyped := p.isKeyword("on")
	if p.token.kind == name && !isTyped {
		return &ast.FragmentSpread{Name: p.advance().value, Directives: p.directives(false), Position: at}
	}
	fragment := &ast.InlineFragment{Position: at}
	if isTyped {
		p.advance()
		fragment.TypeCondition = p.expect(name).value
	}
	fragment.Directives = p.directives(false)
	fragment.SelectionSet = p.selectionSet()
	return fragment
}

func (p *parser) field() *ast.Field {
	field := &ast.Field{Position: p.position()}
	field.Alias = p.expect(name).value
	field.Name = field.Alias
	if p.skip(colon) {
		field.Name = p.expect(name).value
	}
	field.Arguments = p.arguments(false)
	field.Directives = p.directives(false)
	if p.token.kind == braceLeft {
		field.SelectionSet = p.selectionSet()
	}
	return field
}

func (p *parser) arguments(isConstant bool) (arguments ast.ArgumentList) {
	if !p.skip(parenLeft) {
		return nil
	}
	for ok := true; ok; ok = p.token.kind != parenRight {
		argument := &ast.Argument{Position: p.position()}
		argument.Name = p.expect(name).value
		p.expect(colon)
		argument.Value = p.value(isConstant)
		arguments = append(arguments, argument)
	}
	p.advance()
	return arguments
}

func (p *parser) directives(isConstant bool) (directives ast.DirectiveList) {
	for p.token.kind == at {
		directive := &ast.Directive{Position: p.position()}
		p.advance()
		directive.Name = p.expect(name).value
		directive.Arguments = p.arguments(isConstant)
		directives = append(directives, directive)
	}
	return directives
}

// value parses a value. A constant has no variables.
func (p *parser) value(isConstant bool) *ast.Value {
	value := &ast.Value{Position: p.position(), Raw: p.token.value}
	switch p.token.kind {
	case bracketLeft:
		value.Kind = ast.ListValue
		value.Children = p.children(value.Position, bracketRight, func(child *ast.ChildValue) { child.Value = p.value(isConstant) })
		return value
	case braceLeft:
		value.Kind = ast.ObjectValue
		value.Children = p.children(value.Position, braceRight, func(child *ast.ChildValue) {
			child.Position = p.position()
			child.Name = p.expect(name).value
			p.expect(colon)
			child.Value = p.value(isConstant)
		})
		return value
	case dollar:
		if isConstant {
			p.unexpected("a value without variables")
		}
		p.advance()
		value.Raw, value.Kind = p.expect(name).value, ast.Variable
		return value
	case integer:
		value.Kind = ast.IntValue
	case float:
		value.Kind = ast.FloatValue
	case text:
		value.Kind = ast.StringValue
	case blockText:
		value.Kind = ast.BlockValue
	case name:
		value.Kind = kindOfName(value.Raw)
	default:
		p.unexpected("a value")
	}
	p.advance()
	return value
}

func kindOfName(word string) ast.ValueKind {
	switch word {
	case "true", "false":
		return ast.BooleanValue
	case "null":
		return ast.NullValue
	}
	return ast.EnumValue
}

// children parses the elements of a list or the fields of an object, to the bracket that ends it.
func (p *parser) children(at *ast.Position, end kind, parse func(*ast.ChildValue)) (children ast.ChildValueList) {
	p.enter(at)
	p.advance()
	for p.token.kind != end {
		child := new(ast.ChildValue)
		parse(child)
		children = append(children, child)
	}
	p.advance()
	p.leave()
	return children
}

// enter counts a list or an object that begins.
func (p *parser) enter(at *ast.Position) {
	if p.nested++; p.nested > limits.NestedValues {
		panic(failure{AboveLimit(at, "A value or a type in the query nests more than %d lists and objects.", limits.NestedValues)})
	}
}

func (p *parser) leave() { p.nested-- }
