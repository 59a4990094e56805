// Package model holds the types that GraphQL alone knows: ids, cursors, connections, and the inputs and payloads of
// mutations. Those that are plain lists of fields are generated; the types of the domain are in internal/blog.
package model

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"math"
	"strconv"

	"github.com/99designs/gqlgen/graphql"

	"cosmosblog/internal/blog"
	"cosmosblog/internal/limits"
)

// encoding is what opaque texts, ids and cursors, are written in: they may stand in a URL as they are.
var encoding = base64.RawURLEncoding.Strict()

// MarshalID writes a reference as a global id.
func MarshalID(ref blog.Ref) graphql.Marshaler { return plain(EncodeID(ref)) }

// EncodeID gives the global id of a reference.
func EncodeID(ref blog.Ref) string { return encoding.EncodeToString([]byte(ref.String())) }

// maxIDLength is what no id comes near: its two parts have at most 128 characters each. A longer one is not even decoded,
// because a query can use a variable many times.
const maxIDLength = 1024

// UnmarshalID reads a global id. Error: BAD_USER_INPUT for whatever EncodeID does not give.
func UnmarshalID(v any) (blog.Ref, error) {
	id, ok := v.(string)
	if !ok || len(id) > maxIDLength {
		return blog.Ref{}, blog.ErrBadRef
	}
	decoded, err := encoding.DecodeString(id)
	if err != nil {
		return blog.Ref{}, blog.ErrBadRef
	}
	ref, err := blog.ParseRef(string(decoded))
	if err != nil || EncodeID(ref) != id { // the decoder overlooks line breaks
		return blog.Ref{}, blog.ErrBadRef
	}
	return ref, nil
}

// MarshalDateTime writes a moment, and null for no moment.
func MarshalDateTime(d blog.DateTime) graphql.Marshaler {
	if d == "" {
		return graphql.Null
	}
	return plain(d)
}

// UnmarshalDateTime reads a moment. Error: BAD_USER_INPUT.
func UnmarshalDateTime(v any) (blog.DateTime, error) {
	s, _ := v.(string)
	return blog.ParseDateTime(s)
}

// MarshalString writes a text, and an empty one where the answer is longer than limits.MostAnswerBytes already: such an answer is
// withheld, so that the rest of it need not be built.
func MarshalString(s string) graphql.Marshaler { return text(s) }

type text string

// MarshalGQL writes the text between quotes.
func (t text) MarshalGQL(w io.Writer) {
	if answer, ok := w.(interface{ Len() int }); ok && answer.Len() > limits.MostAnswerBytes { // gqlgen writes into a buffer
		t = ""
	}
	graphql.MarshalString(string(t)).MarshalGQL(w)
}

// UnmarshalString reads a text. Error: BAD_USER_INPUT for anything else: gqlgen would take a number for its digits.
func UnmarshalString(v any) (string, error) {
	if s, ok := v.(string); ok {
		return s, nil
	}
	return "", errBadString
}

var errBadString = blog.Errorf(blog.BadUserInput, "A String is a text between quotes.")

// MarshalInt writes a number.
func MarshalInt(i int) graphql.Marshaler { return number(i) }

// UnmarshalInt reads a number. Error: BAD_USER_INPUT for what is no whole number of 32 bits, as GraphQL defines Int.
func UnmarshalInt(v any) (int, error) {
	i, err := whole(v)
	if err != nil || i < math.MinInt32 || i > math.MaxInt32 {
		return 0, errBadInt
	}
	return int(i), nil
}

var errBadInt = blog.Errorf(blog.BadUserInput, "An Int is a whole number of 32 bits.")

// whole takes the forms in which numbers come: as gqlparser reads them in a query, and in the JSON of variables.
func whole(v any) (int64, error) {
	switch v := v.(type) {
	case int64:
		return v, nil
	case json.Number:
		return v.Int64()
	default:
		return 0, errBadInt
	}
}

// plain is a text that needs no escape in JSON.
type plain string

// MarshalGQL writes the text between quotes.
func (p plain) MarshalGQL(w io.Writer) {
	b := make([]byte, 0, 128)
	b = append(b, '"')
	b = append(b, p...)
	_, _ = w.Write(append(b, '"'))
}

type number int

// MarshalGQL writes the number.
func (n number) MarshalGQL(w io.Writer) {
	_, _ = w.Write(strconv.AppendInt(make([]byte, 0, 20), int64(n), 10))
}
