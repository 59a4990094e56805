// Package strictjson parses the JSON of requests, within limits and without ambiguities.
package strictjson

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"cosmosblog/guard/limits"
)

// errJSON is the error of every text that is not acceptable.
var errJSON = errors.New("the JSON is malformed, ambiguous or too large")

// Parse parses exactly one JSON value (RFC 8259), with at most limits.JSONValues names and values,
// nested at most limits.JSONDepth deep. Objects are map[string]any, lists []any, and numbers
// json.Number. Any error means that the text is not acceptable. Strings without escapes share the
// memory of the text, so a string that is kept for longer than the text must be cloned.
//
// It is stricter than encoding/json, so that texts are stored exactly as they were sent.
// encoding/json keeps the last of several members with one name, and replaces invalid Unicode with
// U+FFFD.
func Parse(text string) (any, error) {
	if !IsUnicode(text) {
		return nil, errJSON
	}
	r := reader{text: text, left: limits.JSONValues}
	value, ok := r.value(0)
	r.skipSpace()
	if !ok || r.at < len(text) {
		return nil, errJSON
	}
	return value, nil
}

// reader parses one JSON value of a text for which IsUnicode is true. Its methods return false
// if the text is not acceptable.
type reader struct {
	text string
	at   int // offset of the next byte
	left int // the number of names and values it still accepts
}

func (r *reader) skipSpace() {
	for r.at < len(r.text) && strings.IndexByte(" \t\r\n", r.text[r.at]) >= 0 {
		r.at++
	}
}

// accept skips space, and then the byte c if it is next.
func (r *reader) accept(c byte) bool {
	r.skipSpace()
	if r.at == len(r.text) || r.text[r.at] != c {
		return false
	}
	r.at++
	return true
}

// value parses a value. depth is the number of lists and objects around it.
func (r *reader) value(depth int) (any, bool) {
	if r.left--; r.left < 0 {
		return nil, false
	}
	switch {
	case r.accept('"'):
		return boxed(r.string())
	case r.accept('{'):
		return r.object(depth + 1)
	case r.accept('['):
		return r.list(depth + 1)
	case r.literal("null"):
		return nil, true
	case r.literal("true"):
		return true, true
	case r.literal("false"):
		return false, true
	}
	return r.number()
}

func boxed(text string, ok bool) (any, bool) { return text, ok }

func (r *reader) object(depth int) (any, bool) {
	object := map[string]any{}
	if depth > limits.JSONDepth {
		return nil, false
	}
	for closed := r.accept('}'); !closed; closed = r.accept('}') {
		if len(object) > 0 && !r.accept(',') {
			return nil, false
		}
		r.left--
		if r.left < 0 || !r.accept('"') {
			return nil, false
		}
		name, ok := r.string()
		if _, duplicate := object[name]; !ok || duplicate || !r.accept(':') {
			return nil, false
		}
		if object[name], ok = r.value(depth); !ok {
			return nil, false
		}
	}
	return object, true
}

func (r *reader) list(depth int) (any, bool) {
	list := []any{}
	if depth > limits.JSONDepth {
		return nil, false
	}
	for closed := r.accept(']'); !closed; closed = r.accept(']') {
		if len(list) > 0 && !r.accept(',') {
			return nil, false
		}
		value, ok := r.value(depth)
		if !ok {
			return nil, false
		}
		list = append(list, value)
	}
	return list, true
}

// literal skips a word if it is next.
func (r *reader) literal(word string) bool {
	found := strings.HasPrefix(r.text[r.at:], word)
	if found {
		r.at += len(word)
	}
	return found
}

// number parses a number (RFC 8259, section 6).
func (r *reader) number() (any, bool) {
	start := r.at
	r.literal("-")
	ok := r.literal("0") || r.digits()
	if r.literal(".") {
		ok = ok && r.digits()
	}
	if r.literal("e") || r.literal("E") {
		_ = r.literal("+") || r.literal("-")
		ok = ok && r.digits()
	}
	return json.Number(r.text[start:r.at]), ok
}

// digits skips digits. It returns false if there is none.
func (r *reader) digits() bool {
	start := r.at
	for r.at < len(r.text) && '0' <= r.text[r.at] && r.text[r.at] <= '9' {
		r.at++
	}
	return r.at > start
}

// string parses a string after its opening quote.
func (r *reader) string() (string, bool) {
	plain, ok := r.plain()
	if ok && r.text[r.at] == '"' { // most strings have no escapes
		r.at++
		return plain, true
	}
	var b strings.Builder
	b.Grow(len(plain) + r.restOfString()) // no escape is shorter than its rune
	for ok {
		b.WriteString(plain)
		if r.text[r.at] == '"' {
			r.at++
			return b.String(), true
		}
		escaped, valid := r.escape()
		if !valid {
			return "", false
		}
		b.WriteRune(escaped)
		plain, ok = r.plain()
	}
	return "", false
}

// restOfString returns the number of bytes before the string's closing quote.
func (r *reader) restOfString() int {
	for i := r.at; i < len(r.text); i++ {
		switch r.text[i] {
		case '"':
			return i - r.at
		case '\\':
			i++
		}
	}
	return 0 // the text ends before
}

// plain returns the part of a string before the next quote or backslash. It returns false if the
// text ends before, or if a control character comes before.
func (r *reader) plain() (string, bool) {
	start := r.at
	for ; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; {
		case c == '"' || c == '\\':
			return r.text[start:r.at], true
		case c < ' ':
			return "", false
		}
	}
	return "", false
}

// escape parses an escape, which begins with a backslash. IsUnicode has checked that surrogates are
// in pairs.
func (r *reader) escape() (rune, bool) {
	if first, ok := escapedRune(r.text[r.at:]); ok {
		r.at += 6
		if utf16.IsSurrogate(first) {
			second, _ := escapedRune(r.text[r.at:])
			r.at += 6
			return utf16.DecodeRune(first, second), true
		}
		return first, true
	}
	if r.at+1 == len(r.text) {
		return 0, false
	}
	i := strings.IndexByte(`"\/bfnrt`, r.text[r.at+1])
	if i < 0 {
		return 0, false
	}
	r.at += 2
	return rune("\"\\/\b\f\n\r\t"[i]), true
}

// IsUnicode reports whether a JSON text, or a string token of a query, is valid UTF-8 without
// escapes of unpaired surrogates. It relies on backslashes occurring only in strings.
func IsUnicode(text string) bool {
	if !utf8.ValidString(text) {
		return false
	}
	for {
		i := strings.IndexByte(text, '\\')
		if i < 0 {
			return true
		}
		text = text[i:]
		first, escaped := escapedRune(text)
		switch {
		case !escaped:
			text = text[min(2, len(text)):]
		case !utf16.IsSurrogate(first):
			text = text[6:]
		default:
			second, _ := escapedRune(text[6:])
			if utf16.DecodeRune(first, second) == utf8.RuneError {
				return false
			}
			text = text[12:]
		}
	}
}

// escapedRune parses an escape of the form \u12ab at the beginning of a text. It returns false if
// there is none.
func escapedRune(text string) (rune, bool) {
	if len(text) < 6 || text[:2] != `\u` {
		return 0, false
	}
	value, err := strconv.ParseUint(text[2:6], 16, 16)
	return rune(value), err == nil
}
