package value

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

// MaxDepth is how deeply arrays and objects of an item may nest, the item included (limits page of Azure Cosmos DB: 128
// levels).
const MaxDepth = 128

// maxParsed is how deeply a text may nest: an item, and what requests wrap around it.
const maxParsed = MaxDepth + 8

// A SyntaxError says where in a text JSON stops being JSON.
type SyntaxError struct {
	Offset  int // in bytes
	Message string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("%s at offset %d", e.Message, e.Offset) }

// Parse reads one JSON value and nothing after it. Of a name that is twice in an object the last value counts.
// Errors: *SyntaxError, also for a nesting deeper than an item's and for bytes that are not UTF-8.
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
		return Undefined, p.fail("the text ends where a value should be")
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
	if depth == 0 { // an item, most likely; a body full of small objects must not reserve for each of them
		v.names, v.items = make([]string, 0, 24), make([]Value, 0, 24)
	}
	var seen map[string]int
	for {
		p.space()
		if p.at == len(p.text) || p.text[p.at] != '"' {
			return Undefined, p.fail("a property's name should be here")
		}
		name, err := p.str()
		if err != nil {
			return Undefined, err
		}
		p.space()
		if p.at == len(p.text) || p.text[p.at] != ':' {
			return Undefined, p.fail("a colon should be here")
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

// set adds a property to an object that is being read. seen is nil while the properties are few.
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

// next reads the comma after an element, or the closing bracket, and tells whether it was the bracket.
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
	return false, p.fail("a comma or a closing bracket should be here")
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
			return "", p.fail("a control character in a string")
		}
	}
	p.at = len(p.text)
	return "", p.fail("a string does not end")
}

// escapedString reads a string with escapes by the standard library, which knows surrogate pairs; a lone surrogate
// becomes U+FFFD.
func (p *parser) escapedString(start int) (string, error) {
	for i := start + 1; i < len(p.text); i++ {
		switch p.text[i] {
		case '\\':
			i++
		case '"':
			var s string
			if err := json.Unmarshal([]byte(p.text[start:i+1]), &s); err != nil {
				p.at = start
				return "", p.fail("a string is not well-formed")
			}
			p.at = i + 1
			return s, nil
		}
	}
	p.at = len(p.text)
	return "", p.fail("a string does not end")
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
	from := p.at
	if !digits() || leadingZero && p.at-from > 1 {
		return Undefined, p.fail("a number is not well-formed")
	}
	if peek('.') {
		p.at++
		if !digits() {
			return Undefined, p.fail("a number is not well-formed")
		}
	}
	if peek('e', 'E') {
		p.at++
		if peek('+', '-') {
			p.at++
		}
		if !digits() {
			return Undefined, p.fail("a number is not well-formed")
		}
	}
	n, err := strconv.ParseFloat(p.text[start:p.at], 64)
	if err != nil {
		p.at = start
		return Undefined, p.fail("a number is out of range")
	}
	return Number(n), nil
}

// Append appends v as compact JSON. Undefined, which JSON cannot say, is written as an empty object, as in the
// service's partition key header.
func Append(text []byte, v Value) []byte { return AppendUpTo(text, v, math.MaxInt) }

// AppendUpTo appends as Append does, and leaves off soon after the text has become longer than most bytes: a value whose
// parts are one and the same value may be longer than any memory. A text no longer than that is whole.
func AppendUpTo(text []byte, v Value, most int) []byte {
	switch v.kind {
	case KindUndefined:
		return append(text, "{}"...)
	case KindNull:
		return append(text, "null"...)
	case KindBool:
		return strconv.AppendBool(text, v.number != 0)
	case KindNumber:
		return appendNumber(text, v.number)
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

// MarshalJSON makes a Value usable with encoding/json.
func (v Value) MarshalJSON() ([]byte, error) { return Append(nil, v), nil }

func (v Value) String() string { return string(Append(nil, v)) }

// appendNumber writes a double as JavaScript does: no exponent between 1e-6 and 1e21.
func appendNumber(text []byte, n float64) []byte {
	if n == math.Trunc(n) && math.Abs(n) < 1<<53 {
		return strconv.AppendInt(text, int64(n), 10)
	}
	if abs := math.Abs(n); abs < 1e-6 || abs >= 1e21 {
		text = strconv.AppendFloat(text, n, 'e', -1, 64)
		if end := len(text); text[end-4] == 'e' && text[end-2] == '0' { // 1e-07
			text = append(text[:end-2], text[end-1])
		}
		return text
	}
	return strconv.AppendFloat(text, n, 'f', -1, 64)
}

const hex = "0123456789abcdef"

// AppendString appends s as a JSON string, escaping only what JSON demands.
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
