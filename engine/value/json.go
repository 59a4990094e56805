package value

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxDepth is the maximum nesting of arrays and objects in an item, the item itself included.
// The service's limit is 128 levels (limits page of Azure Cosmos DB).
const MaxDepth = 128

// maxParsed is the maximum nesting of a parsed text: an item and the parts of a request that
// contain it.
const maxParsed = MaxDepth + 8

// SyntaxError reports invalid JSON and its position in the text.
type SyntaxError struct {
	Offset  int // in bytes
	Message string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("%s at offset %d", e.Message, e.Offset) }

// Parse parses a text that holds exactly one JSON value. If an object has a name twice, the last
// value counts.
//
// It returns a *SyntaxError if the text is not JSON, not UTF-8, or nested too deeply.
func Parse(text []byte) (Value, error) {
	if !utf8.Valid(text) {
		return Undefined, &SyntaxError{0, "the text is not UTF-8"}
	}
	p := parser{text: string(text)}
	p.space()
	v, err := p.value(0)
	if err != nil {
		return Undefined, err
	}
	p.space()
	if p.at < len(p.text) {
		return Undefined, p.fail("unexpected text after the value")
	}
	return v, nil
}

type parser struct {
	text string
	at   int
}

func (p *parser) fail(message string) error { return &SyntaxError{p.at, message} }

func (p *parser) space() {
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return
		}
	}
}

func (p *parser) value(depth int) (Value, error) {
	if depth > maxParsed {
		return Undefined, p.fail("the value nests too deeply")
	}
	if p.at == len(p.text) {
		return Undefined, p.fail("the text ends before a value")
	}
	switch c := p.text[p.at]; {
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.array(depth)
	case c == '"':
		s, err := p.str()
		return String(s), err
	case c == '-' || c >= '0' && c <= '9':
		return p.num()
	}
	for _, word := range [...]struct {
		text  string
		value Value
	}{{"true", True}, {"false", False}, {"null", Null}} {
		if len(p.text)-p.at >= len(word.text) && p.text[p.at:p.at+len(word.text)] == word.text {
			p.at += len(word.text)
			return word.value, nil
		}
	}
	return Undefined, p.fail("unexpected character")
}

func (p *parser) object(depth int) (Value, error) {
	p.at++ // {
	v := Value{kind: KindObject}
	if p.space(); p.at < len(p.text) && p.text[p.at] == '}' {
		p.at++
		return v, nil
	}
	if depth == 0 { // probably an item; small nested objects must not reserve as much
		v.names, v.items = make([]string, 0, 24), make([]Value, 0, 24)
	}
	var seen map[string]int
	for {
		p.space()
		if p.at == len(p.text) || p.text[p.at] != '"' {
			return Undefined, p.fail("expected a property name")
		}
		name, err := p.str()
		if err != nil {
			return Undefined, err
		}
		p.space()
		if p.at == len(p.text) || p.text[p.at] != ':' {
			return Undefined, p.fail("expected a colon")
		}
		p.at++
		p.space()
		item, err := p.value(depth + 1)
		if err != nil {
			return Undefined, err
		}
		seen = v.set(seen, name, item)
		end, err := p.next('}')
		if err != nil || end {
			return v, err
		}
	}
}

// set adds a property to an object while it is parsed, or replaces it. seen maps names to their
// positions; it is nil while the object has few properties.
func (v *Value) set(seen map[string]int, name string, item Value) map[string]int {
	at, known := seen[name]
	if seen == nil {
		at = slices.Index(v.names, name)
		known = at >= 0
	}
	if known {
		v.items[at] = item
		return seen
	}
	v.names, v.items = append(v.names, name), append(v.items, item)
	if seen != nil {
		seen[name] = len(v.names) - 1
	} else if len(v.names) == manyNames {
		seen = placesOf(v.names)
	}
	return seen
}

func (p *parser) array(depth int) (Value, error) {
	p.at++ // [
	v := Value{kind: KindArray}
	if p.space(); p.at < len(p.text) && p.text[p.at] == ']' {
		p.at++
		return v, nil
	}
	for {
		p.space()
		item, err := p.value(depth + 1)
		if err != nil {
			return Undefined, err
		}
		v.items = append(v.items, item)
		end, err := p.next(']')
		if err != nil || end {
			return v, err
		}
	}
}

// next reads the comma after an element or the closing bracket. It reports whether it read the
// bracket.
func (p *parser) next(closing byte) (bool, error) {
	p.space()
	if p.at < len(p.text) {
		switch p.text[p.at] {
		case closing:
			p.at++
			return true, nil
		case ',':
			p.at++
			return false, nil
		}
	}
	return false, p.fail("expected a comma or a closing bracket")
}

func (p *parser) str() (string, error) {
	start := p.at
	p.at++ // "
	for i := p.at; i < len(p.text); i++ {
		switch c := p.text[i]; {
		case c == '"':
			s := p.text[p.at:i]
			p.at = i + 1
			return s, nil
		case c == '\\':
			return p.escapedString(start)
		case c < 0x20:
			p.at = i
			return "", p.fail("control character in a string")
		}
	}
	p.at = len(p.text)
	return "", p.fail("unterminated string")
}

// escapedString parses a string with escapes. A lone surrogate becomes U+FFFD, as in encoding/json.
func (p *parser) escapedString(start int) (string, error) {
	end := start + 1
	for end < len(p.text) && p.text[end] != '"' {
		if p.text[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(p.text) {
		p.at = len(p.text)
		return "", p.fail("unterminated string")
	}
	var b strings.Builder
	b.Grow(end - start)
	for rest := p.text[start+1 : end]; rest != ""; {
		plain := plainLength(rest)
		b.WriteString(rest[:plain])
		if rest = rest[plain:]; rest == "" {
			break
		}
		r, length := unescape(rest)
		if length == 0 {
			p.at = start
			return "", p.fail("malformed string")
		}
		b.WriteRune(r)
		rest = rest[length:]
	}
	p.at = end + 1
	return b.String(), nil
}

// plainLength returns the length of a string up to an escape or a control character.
func plainLength(text string) int {
	for i := range len(text) {
		if text[i] == '\\' || text[i] < 0x20 {
			return i
		}
	}
	return len(text)
}

// unescape decodes the escape at the start of a text. It returns the escape's length, or 0 if it is
// not valid. The surrogates of a pair are one escape.
func unescape(text string) (r rune, length int) {
	if text[0] != '\\' || len(text) < 2 {
		return 0, 0
	}
	if text[1] != 'u' {
		at := strings.IndexByte(`"\/bfnrt`, text[1])
		if at < 0 {
			return 0, 0
		}
		return rune("\"\\/\b\f\n\r\t"[at]), 2
	}
	r, ok := codeUnit(text)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, unitLength
	}
	if low, ok := codeUnit(text[unitLength:]); ok {
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, 2 * unitLength
		}
	}
	return utf8.RuneError, unitLength
}

const unitLength = len(`\u0000`)

// codeUnit decodes the escape of a UTF-16 code unit at the start of a text.
func codeUnit(text string) (r rune, ok bool) {
	if len(text) < unitLength || text[:2] != `\u` || text[2] == '+' || text[2] == '_' {
		return 0, false
	}
	n, err := strconv.ParseUint(text[2:unitLength], 16, 16)
	return rune(n), err == nil
}

func (p *parser) num() (Value, error) {
	start := p.at
	digits := func() bool {
		from := p.at
		for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
			p.at++
		}
		return p.at > from
	}
	peek := func(set ...byte) bool { return p.at < len(p.text) && bytes.IndexByte(set, p.text[p.at]) >= 0 }
	if peek('-') {
		p.at++
	}
	leadingZero := peek('0')
	from, whole := p.at, true
	if !digits() || leadingZero && p.at-from > 1 {
		return Undefined, p.fail("malformed number")
	}
	if peek('.') {
		whole = false
		p.at++
		if !digits() {
			return Undefined, p.fail("malformed number")
		}
	}
	if peek('e', 'E') {
		whole = false
		p.at++
		if peek('+', '-') {
			p.at++
		}
		if !digits() {
			return Undefined, p.fail("malformed number")
		}
	}
	v, err := number(p.text[start:p.at], whole)
	if err != nil {
		p.at = start
		return Undefined, p.fail("number out of range")
	}
	return v, nil
}

// Text returns v as compact JSON.
func Text(v Value) []byte { return Append(make([]byte, 0, v.textLength()), v) }

// textLength returns about the length of v's text: all of it unless there are many escapes or long
// numbers.
func (v Value) textLength() int {
	n := len("1700000000,") + len(v.text) + len(v.text)/16
	for i, item := range v.items {
		if v.kind == KindObject {
			n += len(v.names[i]) + len(`"":`)
		}
		n += item.textLength()
	}
	return n
}

// Append appends v as compact JSON. JSON has no undefined; it is written as an empty object, as
// in the service's partition key header.
func Append(text []byte, v Value) []byte { return AppendUpTo(text, v, math.MaxInt) }

// AppendUpTo appends v like Append, but stops soon after the text exceeds most bytes. If the
// text is not longer than that, it is complete.
//
// The limit is needed because a value may contain the same part many times: its text can be
// larger than any memory.
func AppendUpTo(text []byte, v Value, most int) []byte {
	switch v.kind {
	case KindUndefined:
		return append(text, "{}"...)
	case KindNull:
		return append(text, "null"...)
	case KindBool:
		return strconv.AppendBool(text, v.number != 0)
	case KindNumber:
		return appendNumber(text, v)
	case KindString:
		return AppendString(text, v.text)
	}
	opening, closing := byte('['), byte(']')
	if v.kind == KindObject {
		opening, closing = '{', '}'
	}
	text = append(text, opening)
	for i, item := range v.items {
		if len(text) > most {
			return text
		}
		if i > 0 {
			text = append(text, ',')
		}
		if v.kind == KindObject {
			text = append(AppendString(text, v.names[i]), ':')
		}
		text = AppendUpTo(text, item, most)
	}
	return append(text, closing)
}

// MarshalJSON implements json.Marshaler.
func (v Value) MarshalJSON() ([]byte, error) { return Append(nil, v), nil }

func (v Value) String() string { return string(Append(nil, v)) }

const hex = "0123456789abcdef"

// AppendString appends s as a JSON string. It escapes only the characters that JSON requires.
func AppendString(text []byte, s string) []byte {
	text = append(text, '"')
	from := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		text = append(text, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			text = append(text, '\\', c)
		case '\n':
			text = append(text, '\\', 'n')
		case '\r':
			text = append(text, '\\', 'r')
		case '\t':
			text = append(text, '\\', 't')
		default:
			text = append(text, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(append(text, s[from:]...), '"')
}
