package model

import (
	"github.com/99designs/gqlgen/graphql"

	"cosmosblog/blog"
)

// MarshalGlobalID returns a marshaler that writes the global id of a reference.
func MarshalGlobalID(ref blog.Ref) graphql.Marshaler { return MarshalID(ref) }

// AppendGlobalID appends the global id of a reference as MarshalGlobalID writes it.
func AppendGlobalID(b []byte, ref blog.Ref) []byte { return appendPlain(b, ref.String()) }

// UnmarshalGlobalID parses an argument of type ID. A malformed id becomes the zero Ref, which
// resolvers reject. One malformed id in a list therefore does not fail the whole list. Error:
// BAD_USER_INPUT for anything but a string.
func UnmarshalGlobalID(v any) (blog.Ref, error) {
	ref, err := UnmarshalID(v)
	if _, isString := v.(string); isString && err != nil {
		return blog.Ref{}, nil
	}
	return ref, err
}
