// Package price computes how much an operation can cost in RU before it runs. The schema states
// the prices of its fields in the directives @price and @read. Checker rejects operations that
// exceed the limits.
//
// A price is an upper bound for items of a usual size. It depends on the operation and its
// variables alone, never on the stored data.
package price

import (
	"encoding/json"
	"math"
	"reflect"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"cosmosblog/internal/blog"
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
	RU    float64
}

// Price returns the price of an operation. The operation and its variables must be valid.
//
// Price stops after maxFields fields, which bounds its running time. In that case, Price.Fields is
// greater than maxFields and the rest of the price is too low.
func (l List) Price(operation *graphql.OperationContext, maxFields int) Price {
	root := l["Query"]
	if operation.Operation.Operation == ast.Mutation {
		root = l["Mutation"]
	}
	c := calculation{operation: operation, maxFields: maxFields}
	total := c.selection(operation.Operation.SelectionSet, root, enclosing{listSize: 1}).times(1)
	return Price{
		RU:            math.Round(min(total.ru, maxRU)*100) / 100, // request charges have two digits, too
		Elements:      total.elements,
		Fields:        c.fields,
		MostExpensive: total.mostExpensive,
	}
}

// calculation is the state of one call to List.Price.
type calculation struct {
	operation *graphql.OperationContext
	maxFields int
	fields    int // counted so far
}

// enclosing describes the field that returns the objects of a selection.
type enclosing struct {
	listSize float64 // of the nearest list argument; connections pass it on to their nodes and edges
	whole    bool    // the field returns whole items, so fields with needsWhole read nothing more
}

// selection returns the cost of a selection for one object of the type. If the object can be of
// several types, each part of the cost is that of the most expensive type. It visits the same
// fields as gqlgen's execution.
func (c *calculation) selection(selections ast.SelectionSet, of *pricedType, e enclosing) cost {
	var highest cost
	for _, object := range of.possible {
		var total cost
		for _, field := range graphql.CollectFields(c.operation, selections, object.satisfies) {
			if c.fields++; c.fields > c.maxFields {
				return highest
			}
			if priced := object.fields[field.Name]; priced != nil { // introspection has no price
				total = total.plus(c.field(field, priced, e))
			}
		}
		highest = highest.max(total)
	}
	return highest
}

// field returns the cost of a field and its subfields for one object.
func (c *calculation) field(field graphql.CollectedField, priced *pricedField, e enclosing) cost {
	below := enclosing{listSize: e.listSize, whole: priced.returnsWhole}
	if priced.sizeArgument != "" {
		below.listSize = c.listSize(field, priced)
	}
	total := c.subfields(field, priced, below)
	own := FieldPrice{priced.name, field.Field, priced.ru + priced.element*below.listSize}
	total = total.plus(cost{ru: own.RU, mostExpensive: own})
	if priced.sizeArgument != "" {
		total.elements += below.listSize
	}
	if priced.read != nil && !(priced.needsWhole && e.whole) {
		batched := batchedField{priced.read, FieldPrice{Name: priced.name, Field: field.Field}}
		total = total.plus(cost{batched: []batchedField{batched}})
	}
	return total
}

// subfields returns the cost of a field's selection for all objects that the field returns.
func (c *calculation) subfields(field graphql.CollectedField, priced *pricedField, e enclosing) cost {
	if priced.returns == nil {
		return cost{}
	}
	each := c.selection(field.Selections, priced.returns, e)
	switch {
	case priced.isList:
		return each.times(e.listSize)
	case priced.endsBatch:
		return each.times(1)
	}
	return each
}

// listSize returns the maximum length of a field's list. It replaces sizes that no page can have
// by the nearest valid size, because the resolver rejects them before it reads the list.
func (c *calculation) listSize(field graphql.CollectedField, priced *pricedField) float64 {
	argument := field.Arguments.ForName(priced.sizeArgument)
	if argument == nil {
		return priced.defaultSize
	}
	value, err := argument.Value.Value(c.operation.Variables)
	if err != nil {
		return blog.MaxPageSize
	}
	return max(1, min(sizeOf(value, priced.defaultSize), blog.MaxPageSize))
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
