// Package price computes how much an operation can cost in RU before it runs. The schema states
// the prices of its fields in the directives @price and @read. Checker rejects operations that
// exceed the limits.
//
// A price is an upper bound for items of a usual size. It depends on the operation and its
// variables alone, never on the stored data.
package price

import (
	"encoding/json"
	"reflect"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"cosmosblog/blog"
)

// Price is the upper bound of what one operation costs and reads.
type Price struct {
	RU       float64 // at most maxRU, rounded to two digits
	Elements float64 // of lists; a nested list counts once for each element around it
	Fields   int     // the fields of a fragment count at each place that spreads it

	MostExpensive FieldPrice
}

// maxRU caps prices in RU. Prices above it are not distinguished.
const maxRU = 1e9

// FieldPrice is the price of one field of an operation, for all objects that have the field. It
// includes the field's own requests, not those of its subfields.
type FieldPrice struct {
	Name  string // in the schema, as in "Post.comments"
	Field *ast.Field
	RU    float64 // rounded as Price.RU
}

// Price returns the price of an operation. The operation and its variables must be valid.
//
// Price stops after maxFields fields, which bounds its running time. In that case, Price.Fields is
// greater than maxFields and the rest of the price is too low.
func (l List) Price(operation *graphql.OperationContext, maxFields int) Price {
	return l.prepare(operation, maxFields).Price(operation.Variables)
}

// sizeOf returns a number, or the length of a list, from any form in which gqlparser represents
// it. If value is null, it returns defaultSize.
func sizeOf(value any, defaultSize float64) float64 {
	switch v := value.(type) {
	case nil:
		return defaultSize
	case int64:
		return float64(v)
	case json.Number:
		if n, err := v.Float64(); err == nil {
			return n
		}
	case []any:
		return float64(len(v))
	case string: // GraphQL coerces a single value to a list of one
		return 1
	}
	// gqlparser coerces a single value in a variable to a typed slice, for example a []string.
	if list := reflect.ValueOf(value); list.Kind() == reflect.Slice {
		return float64(list.Len())
	}
	return blog.MaxPageSize
}
