package query

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// lexer splits a query's text into tokens. Its methods fail by a panic with a *SyntaxError,
// which parse recovers. Error returns would obscure the deeply recursive parser.
type lexer struct {
	text string
	at   int
}

// fail panics with a *SyntaxError at an offset of the text.
func (l *lexer) fail(at int, message string) { panic(syntaxError(l.text, at, message)) }

func syntaxError(text string, at int, message string) *SyntaxError {
	before := text[:at]
	start := strings.LastIndexByte(before, '\n') + 1
	return &SyntaxError{
		Offset:  at,
		Line:    1 + strings.Count(before, "\n"),
		Column:  1 + utf8.RuneCountInString(before[start:]),
		Message: message,
	}
}

func (l *lexer) next() token {
	l.space()
	start := l.at
	if start == len(l.text) {
		return token{kind: endToken, at: start, end: start}
	}
	t := token{at: start}
	switch c := l.text[start]; {
	case isLetter(c):
		t.kind, t.text = nameOrKeyword(l.word())
	case c == '@':
		t.kind, t.text = parameterToken, l.parameter()
	case isDigit(c) || c == '.' && isDigit(l.peek(1)):
		t.kind, t.text = numberToken, l.num()
	case c == '"' || c == '\'':
		t.kind, t.text = stringToken, l.str()
	default:
		t.kind, t.text = symbolToken, l.symbol()
	}
	t.end = l.at
	return t
}

// peek returns the byte at a distance from the current position, or zero at the end.
func (l *lexer) peek(distance int) byte {
	if l.at+distance < len(l.text) {
		return l.text[l.at+distance]
	}
	return 0
}

// space skips white space and comments. A comment starts with "--" and extends to the end of the
// line.
func (l *lexer) space() {
	for l.at < len(l.text) {
		switch c := l.text[l.at]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			l.at++
		case c == '-' && l.peek(1) == '-':
			if end := strings.IndexByte(l.text[l.at:], '\n'); end >= 0 {
				l.at += end
			} else {
				l.at = len(l.text)
			}
		default:
			return
		}
	}
}

func (l *lexer) word() string {
	start := l.at
	for isLetter(l.peek(0)) || isDigit(l.peek(0)) {
		l.at++
	}
	return l.text[start:l.at]
}

func (l *lexer) parameter() string {
	start := l.at
	l.at++ // @
	if !isLetter(l.peek(0)) {
		l.fail(start, "The name of a parameter must begin with a letter after the ‘@’")
	}
	l.word()
	return l.text[start:l.at]
}

func (l *lexer) num() string {
	start := l.at
	l.digits()
	if l.peek(0) == '.' {
		l.at++
		l.digits()
	}
	if l.peek(0)|0x20 == 'e' {
		l.at++
		if l.peek(0) == '+' || l.peek(0) == '-' {
			l.at++
		}
		if !isDigit(l.peek(0)) {
			l.fail(start, "The exponent of the number has no digits")
		}
		l.digits()
	}
	if isLetter(l.peek(0)) || l.peek(0) == '.' {
		l.fail(start, "Malformed number")
	}
	return l.text[start:l.at]
}

func (l *lexer) digits() {
	for isDigit(l.peek(0)) {
		l.at++
	}
}

// str reads a string in single or double quotes.
func (l *lexer) str() string {
	start := l.at
	quote := l.text[start]
	l.at++
	var b strings.Builder
	for l.at < len(l.text) {
		switch c := l.text[l.at]; {
		case c == quote:
			l.at++
			return b.String()
		case c == '\\':
			b.WriteRune(l.escape())
		case c < 0x20:
			l.fail(l.at, "Control character in a string; write it as an escape, such as \\n")
		default:
			b.WriteByte(c)
			l.at++
		}
	}
	l.fail(start, "Unterminated string")
	return ""
}

// escapes maps the character after a backslash to the character it represents.
var escapes = map[byte]rune{
	'"': '"', '\'': '\'', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// escape reads an escape sequence. A lone surrogate becomes U+FFFD.
func (l *lexer) escape() rune {
	start := l.at
	c := l.peek(1)
	l.at += 2
	if c != 'u' {
		r, ok := escapes[c]
		if !ok {
			l.fail(start, "Unknown escape in a string")
		}
		return r
	}
	r := l.hex(start)
	if utf16.IsSurrogate(r) && l.peek(0) == '\\' && l.peek(1) == 'u' {
		second := l.at
		l.at += 2
		if pair := utf16.DecodeRune(r, l.hex(second)); pair != utf8.RuneError {
			return pair
		}
		l.at = second
	}
	return r // WriteRune writes a lone surrogate as U+FFFD
}

// hex reads the four digits of a \u escape that starts at start.
func (l *lexer) hex(start int) rune {
	if l.at+4 <= len(l.text) {
		if n, err := strconv.ParseUint(l.text[l.at:l.at+4], 16, 32); err == nil {
			l.at += 4
			return rune(n)
		}
	}
	l.fail(start, "A \\u escape needs four hexadecimal digits")
	return 0
}

// symbols are the operators and brackets. A symbol is listed before its prefixes.
var symbols = []string{"<>", "<=", ">=", "!=", "||", "??",
	"<", ">", "=", "+", "-", "*", "/", "%", "?", ":", ",", ".", "(", ")", "[", "]", "{", "}"}

func (l *lexer) symbol() string {
	for _, symbol := range symbols {
		if strings.HasPrefix(l.text[l.at:], symbol) {
			l.at += len(symbol)
			return symbol
		}
	}
	switch l.text[l.at] {
	case '&', '|', '^', '~':
		l.fail(l.at, "Bitwise operators are not supported")
	}
	l.fail(l.at, "Unexpected character")
	return ""
}
