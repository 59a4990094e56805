package graph

import (
	"bytes"
	"context"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"cosmosblog/blog"
)

// A plain field is bound to a field of a Go struct, or to a method without context and error, and
// it has no arguments. It returns a scalar, or an object or list whose selected fields are plain.
// For each of them, gqlgen needs closures, contexts and allocations, and a map for each object.
// The functions of plain_generated.go append them directly.
//
// gqlgen resolves all other fields. If a plain field panics, if its value is null where the schema
// forbids it, or if an object does not have the value at hand, then gqlgen resolves all fields of
// the object. Errors and the propagation of null therefore have one implementation.

const (
	// maxPlainBytes limits the text of one object. gqlgen resolves larger objects: until it writes
	// the response, it refers to their strings and copies none.
	maxPlainBytes = 1 << 20
	// maxAllPlainBytes limits the text of all objects of an operation. The server drops the data of
	// longer responses.
	maxAllPlainBytes = blog.MaxAnswerBytes
)

// noPlainFields lets gqlgen resolve all fields. Only tests set it, to compare the responses.
var noPlainFields = false

// plainFields is what the objects of one operation share. The zero value is ready to use. It may
// be used concurrently.
type plainFields struct {
	find       sync.Once
	selections *Selections
	bytes      atomic.Int64 // of all objects
}

// of returns the selection of a selection set on a type: see Selections.of.
func (p *plainFields) of(operation *graphql.OperationContext, set ast.SelectionSet, implementors []string, find findPlain) *selection {
	p.find.Do(func() { p.selections = selectionsOf(operation) })
	return p.selections.of(operation, set, implementors, find)
}

// object is the JSON of an object.
type object struct {
	text   []byte              // without the fields that gqlgen resolves
	gaps   []int               // where their values belong in text
	values []graphql.Marshaler // for the gaps
}

// MarshalGQL writes the object.
func (o *object) MarshalGQL(w io.Writer) {
	begin := 0
	for i, gap := range o.gaps {
		_, _ = w.Write(o.text[begin:gap])
		o.values[i].MarshalGQL(w)
		begin = gap
	}
	_, _ = w.Write(o.text[begin:])
}

// fill returns the object with the values for its gaps. resolved is gqlgen's result for their
// fields: a FieldSet, or null.
func (o *object) fill(resolved graphql.Marshaler) graphql.Marshaler {
	fields, ok := resolved.(*graphql.FieldSet)
	if !ok {
		return resolved
	}
	o.values = fields.Values
	return o
}

// appendPlain returns an object with the plain fields of a selection, or nil if gqlgen must resolve
// all fields. appendTo is the generated function of the object's type.
func appendPlain[T any](ctx context.Context, p *plainFields, s *selection, value *T, appendTo func(*plainWriter, *selection, *T) bool) *object {
	// After the deadline, gqlgen fails lists.
	if len(s.fields) == 0 || noPlainFields || p.bytes.Load() > maxAllPlainBytes || ctx.Err() != nil {
		return nil
	}
	shared, key := sharedText(s, value)
	if shared != nil {
		if text := shared.Get(key); text != nil {
			if p.bytes.Add(int64(len(text))) > maxAllPlainBytes {
				return nil
			}
			return &object{text: text}
		}
	}
	w := plainWriters.Get().(*plainWriter)
	defer plainWriters.Put(w)
	w.text, w.gaps = w.text[:0], w.gaps[:0]
	if !w.try(func() bool { return appendTo(w, s, value) }) || p.bytes.Add(int64(len(w.text))) > maxAllPlainBytes {
		return nil
	}
	o := &object{text: bytes.Clone(w.text), gaps: slices.Clone(w.gaps)}
	if shared != nil {
		shared.Keep(key, o.text)
	}
	return o
}

// sharedText returns the text that requests share, if value is a page, the same selection is used
// again, and gqlgen resolves none of its fields.
func sharedText(s *selection, value any) (*blog.PageText, blog.TextKey) {
	page, ok := value.(interface {
		SharedText(selection uint64) (*blog.PageText, blog.TextKey)
	})
	if !ok || s.number == 0 || !s.isPlain() {
		return nil, blog.TextKey{}
	}
	return page.SharedText(s.number)
}

// plainWriter appends an object and the plain objects below it.
type plainWriter struct {
	text []byte
	gaps []int
}

// plainWriters holds idle writers. Their texts have a little more than maxPlainBytes at most.
var plainWriters = sync.Pool{New: func() any { return new(plainWriter) }}

// try returns the result of appendTo, or false if it panics. gqlgen then meets the panic again, and
// reports it.
func (w *plainWriter) try(appendTo func() bool) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	return appendTo()
}

// begin appends the key of a field, and leaves a gap if gqlgen resolves the field. It returns false
// if the text is too long. A name in GraphQL needs no escapes in JSON.
func (w *plainWriter) begin(f *selectedField) bool {
	if w.text[len(w.text)-1] != '{' {
		w.text = append(w.text, ',')
	}
	w.text = append(w.text, '"')
	w.text = append(w.text, f.alias...)
	w.text = append(w.text, `":`...)
	if f.plain == "" {
		w.gaps = append(w.gaps, len(w.text))
	}
	return len(w.text) <= maxPlainBytes
}

func (w *plainWriter) appendText(text string) { w.text = append(w.text, text...) }

// nullability says whether the schema allows null as the value of a field.
type nullability bool

const (
	nullable nullability = true
	required nullability = false
)

// appendNull appends null. It returns false if the schema forbids it.
func (w *plainWriter) appendNull(n nullability) bool {
	w.appendText("null")
	return n == nullable
}

// appendScalar appends a scalar. appendTo may append null.
func appendScalar[T any](w *plainWriter, value T, n nullability, appendTo func([]byte, T) []byte) bool {
	begin := len(w.text)
	w.text = appendTo(w.text, value)
	return n == nullable || string(w.text[begin:]) != "null"
}

// appendScalarPointer appends a scalar, or null.
func appendScalarPointer[T any](w *plainWriter, value *T, n nullability, appendTo func([]byte, T) []byte) bool {
	if value == nil {
		return w.appendNull(n)
	}
	return appendScalar(w, *value, n, appendTo)
}

// appendObject appends an object, or null.
func appendObject[T any](w *plainWriter, s *selection, value *T, n nullability, appendTo func(*plainWriter, *selection, *T) bool) bool {
	if value == nil {
		return w.appendNull(n)
	}
	return appendTo(w, s, value)
}

// appendValue is appendObject for a value.
func appendValue[T any](w *plainWriter, s *selection, value T, _ nullability, appendTo func(*plainWriter, *selection, *T) bool) bool {
	return appendTo(w, s, &value)
}

// appendObjects appends a list without null.
func appendObjects[T any](w *plainWriter, s *selection, list []*T, appendTo func(*plainWriter, *selection, *T) bool) bool {
	w.appendText("[")
	for i, element := range list {
		if i > 0 {
			w.appendText(",")
		}
		if element == nil || !appendTo(w, s, element) {
			return false
		}
	}
	w.appendText("]")
	return true
}

// appendValues is appendObjects for a list of values.
func appendValues[T any](w *plainWriter, s *selection, list []T, appendTo func(*plainWriter, *selection, *T) bool) bool {
	w.appendText("[")
	for i := range list {
		if i > 0 {
			w.appendText(",")
		}
		if !appendTo(w, s, &list[i]) {
			return false
		}
	}
	w.appendText("]")
	return true
}
