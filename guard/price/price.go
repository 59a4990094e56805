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
	"slices"

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
// isConstant reports whether every value of the variables gives this price.
//
// Price stops after maxFields fields, which bounds its running time. In that case, Price.Fields is
// greater than maxFields and the rest of the price is too low.
func (l List) Price(operation *graphql.OperationContext, maxFields int) (p Price, isConstant bool) {
	root := l["Query"]
	switch operation.Operation.Operation {
	case ast.Mutation:
		root = l["Mutation"]
	case ast.Subscription:
		root = l["Subscription"]
	}
	c := calculation{operation: operation, maxFields: maxFields, isConstant: !HasConditions(operation.Operation)}
	total := c.selection(operation.Operation.SelectionSet, root, short, 1).times(1)
	p = Price{RU: rounded(total.ru), Elements: total.elements, Fields: c.fields, MostExpensive: total.mostExpensive}
	p.MostExpensive.RU = rounded(p.MostExpensive.RU)
	return p, c.isConstant
}

// HasConditions reports whether the fields of an operation may depend on a variable, in @skip or
// @include. No other argument in the schema is a Boolean.
func HasConditions(operation *ast.OperationDefinition) bool {
	return slices.ContainsFunc(operation.VariableDefinitions, func(v *ast.VariableDefinition) bool { return v.Type.NamedType == "Boolean" })
}

// rounded returns an amount of RU, at most maxRU, with two digits, as request charges have.
func rounded(ru float64) float64 { return math.Round(min(ru, maxRU)*100) / 100 }

// calculation is the state of one call to List.Price.
type calculation struct {
	operation  *graphql.OperationContext
	maxFields  int
	fields     int // counted so far
	isConstant bool
}

// selection returns the cost of a selection for one object. If the object can be of several types,
// each number of the cost is that of the most expensive type. f is the form of the items that the
// field around it returns, and listSize the length of the nearest list around it; connections pass
// both on to their nodes and edges. It visits the same fields as gqlgen's execution.
func (c *calculation) selection(selections ast.SelectionSet, of *pricedType, f form, listSize float64) cost {
	var highest cost
	for _, object := range of.possible {
		var total cost
		for _, field := range graphql.CollectFields(c.operation, selections, object.satisfies) {
			if c.fields++; c.fields > c.maxFields {
				return highest
			}
			if priced := object.fields[field.Name]; priced != nil { // introspection has no price
				total = total.plus(c.field(field, priced, f, object, listSize))
			}
		}
		highest = highest.max(total)
	}
	return highest
}

// field returns the cost of a field and its subfields for one object.
func (c *calculation) field(field graphql.CollectedField, priced *pricedField, f form, object *pricedType, listSize float64) cost {
	if priced.hasSize() {
		listSize = c.listSize(field, priced)
	}
	var total cost
	if priced.returns != nil {
		total = c.selection(field.Selections, priced.returns, object.formOf(priced, f), listSize)
	}
	switch {
	case priced.isStored():
		total = total.scaled(listSize)
	case priced.isList:
		total = total.times(listSize)
	case priced.endsBatch:
		total = total.times(1)
	}
	own := FieldPrice{priced.name, field.Field, priced.ru + priced.element*listSize + c.textCost(field, priced)}
	total = total.plus(cost{ru: own.RU, mostExpensive: own})
	if priced.hasSize() {
		total.elements += listSize
	}
	if priced.reads(f) {
		batched := batchedField{priced.read, FieldPrice{Name: priced.name, Field: field.Field}, 1}
		total = total.plus(cost{batched: []batchedField{batched}})
	}
	return total
}

// listSize returns the maximum length of a field's list. It replaces sizes that no page can have by
// the nearest valid size, because the resolver rejects them before it reads the list.
func (c *calculation) listSize(field graphql.CollectedField, priced *pricedField) float64 {
	argument := field.Arguments.ForName(priced.sizeArgument)
	if argument == nil {
		return priced.defaultSize
	}
	c.isConstant = c.isConstant && !hasVariable(argument.Value)
	value, err := argument.Value.Value(c.operation.Variables)
	if err != nil {
		return blog.MaxPageSize
	}
	return max(1, min(sizeOf(value, priced.defaultSize), blog.MaxPageSize))
}

// hasVariable reports whether a value is a variable or contains one.
func hasVariable(value *ast.Value) bool {
	return value.Kind == ast.Variable ||
		slices.ContainsFunc(value.Children, func(child *ast.ChildValue) bool { return hasVariable(child.Value) })
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
