package syntax

import (
	"math"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/vektah/gqlparser/v2/ast"

	"cosmosblog/guard/limits"
)

// kind is the kind of a token. Punctuation is its own kind.
type kind byte

const (
	endOfQuery kind = iota + 1
	name
	integer
	float
	text
	blockText
	spread

	bang         kind = '!'
	dollar       kind = '$'
	parenLeft    kind = '('
	parenRight   kind = ')'
	colon        kind = ':'
	equals       kind = '='
	at           kind = '@'
	bracketLeft  kind = '['
	bracketRight kind = ']'
	braceLeft    kind = '{'
	braceRight   kind = '}'
)

// String describes the kind in an error.
func (k kind) String() string {
	switch k {
	case endOfQuery:
		return "the end of the query"
	case name:
		return "a name"
	case integer, float:
		return "a number"
	case text, blockText:
		return "a string"
	case spread:
		return "`...`"
	}
	return "`" + string(rune(k)) + "`"
}

// token is a token of a query.
type token struct {
	kind         kind
	value        string // of a name, a number or a string; without its quotes, and with its escapes resolved
	line, column int
}

// lexer reads the tokens of a text.
type lexer struct {
	source    *ast.Source
	text      string
	offset    int // of the next byte
	line      int // that of the offset, from 1
	lineStart int // the offset of its first byte
	wide      int // bytes in it, before the offset, that only continue a character
}

// read returns the next token. It panics (failure) if there is none.
func (l *lexer) read() token {
	l.skipIgnored()
	t := token{line: l.line, column: l.column()}
	if l.offset == len(l.text) {
		t.kind = endOfQuery
		return t
	}
	switch c := l.text[l.offset]; {
	case isNameStart(c):
		t.kind, t.value = name, l.word(func(c byte) bool { return isNameStart(c) || isDigit(c) })
	case isDigit(c), c == '-':
		t.kind, t.value = l.number()
	case strings.HasPrefix(l.text[l.offset:], `"""`):
		t.kind, t.value = blockText, l.blockString()
	case c == '"':
		t.kind, t.value = text, l.string()
	case strings.HasPrefix(l.text[l.offset:], "..."):
		t.kind = spread
		l.offset += len("...")
	case strings.IndexByte("!$():=@[]{}", c) >= 0:
		t.kind = kind(c)
		l.offset++
	default:
		l.fail("this character is not allowed here.")
	}
	return t
}

func isNameStart(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' }
func isDigit(c byte) bool     { return '0' <= c && c <= '9' }

func (l *lexer) column() int { return l.offset - l.lineStart - l.wide + 1 }

// here returns the position of the offset.
func (l *lexer) here() *ast.Position {
	return &ast.Position{Line: l.line, Column: l.column(), Src: l.source}
}

// fail ends the parsing with an error at the offset.
func (l *lexer) fail(problem string) { fail(l.here(), "The query has a syntax error: %s", problem) }

// peek returns the byte at a distance from the offset, or 0 behind the text's end.
func (l *lexer) peek(distance int) byte {
	if l.offset+distance < len(l.text) {
		return l.text[l.offset+distance]
	}
	return 0
}

// pass moves the offset over a byte that ends no line.
func (l *lexer) pass() {
	if l.text[l.offset]&0xC0 == 0x80 {
		l.wide++
	}
	l.offset++
}

// passLineEnd moves the offset over a line terminator, if there is one.
func (l *lexer) passLineEnd() bool {
	switch l.peek(0) {
	case '\n':
	case '\r':
		if l.peek(1) == '\n' {
			l.offset++
		}
	default:
		return false
	}
	l.offset++
	l.line, l.lineStart, l.wide = l.line+1, l.offset, 0
	return true
}

const byteOrderMark = "\uFEFF"

// skipIgnored moves the offset over white space, commas, comments and byte order marks.
func (l *lexer) skipIgnored() {
	for l.offset < len(l.text) {
		switch c := l.text[l.offset]; {
		case c == ' ', c == '\t', c == ',':
			l.offset++
		case c == '#':
			for l.offset < len(l.text) && l.text[l.offset] != '\n' && l.text[l.offset] != '\r' {
				l.pass()
			}
		case strings.HasPrefix(l.text[l.offset:], byteOrderMark):
			l.offset += len(byteOrderMark)
			l.wide += len(byteOrderMark) - 1
		case !l.passLineEnd():
			return
		}
	}
}

// word returns the bytes of a class, and moves the offset over them.
func (l *lexer) word(isPart func(byte) bool) string {
	start := l.offset
	for l.offset < len(l.text) && isPart(l.text[l.offset]) {
		l.offset++
	}
	return l.since(start)
}

// since returns the name or number that began at an offset.
func (l *lexer) since(start int) string {
	word := l.text[start:l.offset]
	if len(word) > limits.WordBytes {
		l.offset = start
		panic(failure{AboveLimit(l.here(), "The query has a name or a number of more than %d characters.", limits.WordBytes)})
	}
	return word
}

// number reads an IntValue or a FloatValue.
func (l *lexer) number() (kind, string) {
	start, k := l.offset, integer
	if l.peek(0) == '-' {
		l.offset++
	}
	if l.peek(0) == '0' && isDigit(l.peek(1)) {
		l.fail("a number must not begin with 0 and another digit.")
	}
	l.digits()
	if l.peek(0) == '.' {
		k = float
		l.offset++
		l.digits()
	}
	if l.peek(0)|0x20 == 'e' {
		k = float
		if l.offset++; l.peek(0) == '+' || l.peek(0) == '-' {
			l.offset++
		}
		l.digits()
	}
	if l.peek(0) == '.' || isNameStart(l.peek(0)) {
		l.fail("a letter or a point follows a number.")
	}
	return k, l.since(start)
}

func (l *lexer) digits() {
	if !isDigit(l.peek(0)) {
		l.fail("a digit is missing in a number.")
	}
	for isDigit(l.peek(0)) {
		l.offset++
	}
}

// string reads a string in quotes.
func (l *lexer) string() string {
	l.offset++
	start := l.offset
	var value strings.Builder // once there is an escape
	for l.offset < len(l.text) {
		switch l.text[l.offset] {
		case '"':
			end := l.offset
			if l.offset++; value.Len() == 0 {
				return l.text[start:end]
			}
			value.WriteString(l.text[start:end])
			return strings.Clone(value.String()) // without the builder's room
		case '\n', '\r':
			l.fail(noEnd)
		case '\\':
			value.WriteString(l.text[start:l.offset])
			value.WriteString(l.escape())
			start = l.offset
		default:
			l.pass()
		}
	}
	l.fail(noEnd)
	return ""
}

const noEnd = "a string has no end."

// escape reads an escape sequence, and returns what it stands for.
func (l *lexer) escape() string {
	if i := strings.IndexByte(`"\/bfnrt`, l.peek(1)); i >= 0 && l.peek(1) != 0 {
		l.offset += 2
		return "\"\\/\b\f\n\r\t"[i : i+1]
	}
	if l.peek(1) != 'u' {
		l.fail(`a string has an escape that GraphQL does not define. Write a backslash as \\.`)
	}
	r, length := l.codePoint(0)
	if utf16.IsSurrogate(r) && l.peek(length) == '\\' && l.peek(length+1) == 'u' && l.peek(length+2) != '{' && l.peek(2) != '{' {
		low, more := l.codePoint(length)
		r, length = utf16.DecodeRune(r, low), length+more
		if r == utf8.RuneError {
			r = -1
		}
	}
	if !utf8.ValidRune(r) {
		l.fail("a string has an escape that is not a Unicode scalar value, such as half of a surrogate pair.")
	}
	l.offset += length
	return string(r)
}

// codePoint returns the number in a Unicode escape at a distance, which may be a surrogate, and the
// length of the escape.
func (l *lexer) codePoint(distance int) (r rune, length int) {
	isBraced, i := l.peek(distance+2) == '{', distance+2
	if isBraced {
		i++
	}
	first := i
	for ; isBraced || i < first+4; i++ {
		digit := strings.IndexByte("0123456789abcdef", l.peek(i)|0x20)
		if isDigit(l.peek(i)) {
			digit = int(l.peek(i) - '0')
		} else if digit < 10 {
			break
		}
		r = min(r<<4|rune(digit), math.MaxInt32>>4)
	}
	if isBraced && i > first && l.peek(i) == '}' {
		return r, i + 1 - distance
	}
	if isBraced || i < first+4 {
		l.fail(`a string has a malformed Unicode escape. Write \u and 4 hexadecimal digits, or any number of them in braces.`)
	}
	return r, i - distance
}

// blockString reads a block string.
func (l *lexer) blockString() string {
	const quotes = `"""`
	l.offset += len(quotes)
	var raw strings.Builder
	start := l.offset
	for l.offset < len(l.text) {
		switch c := l.text[l.offset]; {
		case c == '"' && strings.HasPrefix(l.text[l.offset:], quotes):
			raw.WriteString(l.text[start:l.offset])
			l.offset += len(quotes)
			return blockStringValue(strings.Split(raw.String(), "\n"))
		case c == '\\' && strings.HasPrefix(l.text[l.offset+1:], quotes):
			raw.WriteString(l.text[start:l.offset])
			start = l.offset + len(`\`)
			l.offset = start + len(quotes)
		case c == '\n', c == '\r':
			raw.WriteString(l.text[start:l.offset])
			raw.WriteByte('\n')
			l.passLineEnd()
			start = l.offset
		default:
			l.pass()
		}
	}
	l.fail(noEnd)
	return ""
}

// blockStringValue returns the value of a block string with these lines, without their common
// indentation and without empty lines at both ends (section 2.9.4, BlockStringValue). The first
// line has no indentation, because it begins behind the quotes.
func blockStringValue(lines []string) string {
	common := math.MaxInt
	for _, line := range lines[1:] {
		if indent := indentOf(line); indent < len(line) {
			common = min(common, indent)
		}
	}
	for i, line := range lines[1:] {
		lines[i+1] = line[min(common, len(line)):]
	}
	for len(lines) > 0 && indentOf(lines[0]) == len(lines[0]) {
		lines = lines[1:]
	}
	for len(lines) > 0 && indentOf(lines[len(lines)-1]) == len(lines[len(lines)-1]) {
		lines = lines[:len(lines)-1]
	}
	return strings.Clone(strings.Join(lines, "\n")) // not a part of a longer text
}

// indentOf returns the number of spaces and tabs that a line begins with.
func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }
