// Package model holds the types that exist only in GraphQL: ids, cursors, connections, scalars, and
// the inputs and payloads of mutations. gqlgen generates the plain inputs and payloads. The domain
// types are in blog.
package model

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"math"
	"strconv"

	"github.com/99designs/gqlgen/graphql"

	"cosmosblog/blog"
)

// MarshalID returns a marshaler that writes the global id of a reference.
func MarshalID(ref blog.Ref) graphql.Marshaler { return plain(ref.String()) }

// UnmarshalID parses a global id. Error: BAD_USER_INPUT for any other value.
func UnmarshalID(v any) (blog.Ref, error) {
	id, ok := v.(string)
	if !ok {
		return blog.Ref{}, blog.ErrBadRef
	}
	return blog.ParseRef(id)
}

// MarshalDateTime returns a marshaler that writes a timestamp, or null if it is empty.
func MarshalDateTime(d blog.DateTime) graphql.Marshaler {
	if d == "" {
		return graphql.Null
	}
	return plain(d)
}

// AppendDateTime appends a timestamp as MarshalDateTime writes it.
func AppendDateTime(b []byte, d blog.DateTime) []byte {
	if d == "" {
		return append(b, "null"...)
	}
	return appendPlain(b, string(d))
}

// UnmarshalDateTime parses a timestamp. Error: BAD_USER_INPUT.
func UnmarshalDateTime(v any) (blog.DateTime, error) {
	s, _ := v.(string)
	return blog.ParseDateTime(s)
}

// MarshalString returns a marshaler that writes a string. If the response is already longer than
// blog.MaxAnswerBytes, it writes an empty string. The server drops the data of such a
// response, so the rest of it need not be built.
func MarshalString(s string) graphql.Marshaler { return text(s) }

type text string

// MarshalGQL writes the string as a JSON string.
func (t text) MarshalGQL(w io.Writer) {
	buffer, ok := w.(*bytes.Buffer) // of gqlgen
	if !ok {
		_, _ = w.Write(AppendString(nil, string(t)))
		return
	}
	if buffer.Len() > blog.MaxAnswerBytes {
		t = ""
	}
	buffer.Grow(len(t) + len(`""`))
	_, _ = buffer.Write(AppendString(buffer.AvailableBuffer(), string(t)))
}

// AppendString appends a string as a JSON string, with the same escapes as gqlgen.
func AppendString(b []byte, s string) []byte {
	const hex = "0123456789ABCDEF"
	b = append(b, '"')
	for {
		n := unescapedLength(s)
		b = append(b, s[:n]...)
		if n == len(s) {
			return append(b, '"')
		}
		switch c := s[n]; c {
		case '\t':
			b = append(b, '\\', 't')
		case '\r':
			b = append(b, '\\', 'r')
		case '\n':
			b = append(b, '\\', 'n')
		case '"', '\\':
			b = append(b, '\\', c)
		default:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		s = s[n+1:]
	}
}

// unescapedLength returns the number of bytes before the first one that JSON escapes. It compares
// eight bytes at once: see "Determine if a word has a byte less than n" in Sean Anderson's Bit
// Twiddling Hacks.
func unescapedLength(s string) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(s); i += 8 {
		word := binary.LittleEndian.Uint64([]byte(s[i : i+8])) // not copied
		quote, backslash := word^(ones*'"'), word^(ones*'\\')
		if ((word-ones*' ')&^word|(quote-ones)&^quote|(backslash-ones)&^backslash)&highs != 0 {
			break
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' {
			break
		}
	}
	return i
}

// UnmarshalString returns a string value unchanged. Error: BAD_USER_INPUT for other types;
// gqlgen's own function would convert numbers to strings.
func UnmarshalString(v any) (string, error) {
	if s, ok := v.(string); ok {
		return s, nil
	}
	return "", errBadString
}

var errBadString = blog.Errorf(blog.BadUserInput, "A String must be a quoted string.")

// MarshalInt returns a marshaler that writes an integer.
func MarshalInt(i int) graphql.Marshaler { return number(i) }

// AppendInt appends an integer as MarshalInt writes it.
func AppendInt(b []byte, i int) []byte { return strconv.AppendInt(b, int64(i), 10) }

// UnmarshalInt returns an integer value. Error: BAD_USER_INPUT for anything but a 32-bit integer,
// the range of GraphQL's Int.
func UnmarshalInt(v any) (int, error) {
	i, err := parseInteger(v)
	if err != nil || i < math.MinInt32 || i > math.MaxInt32 {
		return 0, errBadInt
	}
	return int(i), nil
}

var errBadInt = blog.Errorf(blog.BadUserInput, "An Int must be a 32-bit integer.")

// parseInteger accepts the two types that numbers have: int64 for literals in a query, and
// json.Number in variables.
func parseInteger(v any) (int64, error) {
	switch v := v.(type) {
	case int64:
		return v, nil
	case json.Number:
		return v.Int64()
	default:
		return 0, errBadInt
	}
}

// plain is a string without characters that JSON escapes.
type plain string

// MarshalGQL writes the string as a JSON string.
func (p plain) MarshalGQL(w io.Writer) { _, _ = w.Write(appendPlain(make([]byte, 0, 128), string(p))) }

func appendPlain(b []byte, s string) []byte { return append(append(append(b, '"'), s...), '"') }

type number int

// MarshalGQL writes the number in decimal.
func (n number) MarshalGQL(w io.Writer) { _, _ = w.Write(AppendInt(make([]byte, 0, 20), int(n))) }
