package resolvers

import (
	"encoding/json"
	"math"
	"reflect"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"cosmosblog/internal/blog"
)

// price is what an operation costs at most, on items of a usual size. It is counted from the operation alone, before
// anything runs.
type price struct {
	ru       float64 // priceCeiling at most
	elements float64 // of lists, those within lists once for each element around them
	fields   int     // those of a fragment once for each place that it is spread in
	dearest  share
}

const priceCeiling = 1e9 // RU: what is dearer is not told apart

// share is what one field of a query costs, for all times that it is answered.
type share struct {
	name  string // Type.field, as in the schema
	field *ast.Field
	ru    float64
}

// priceOf counts what an operation costs. The operation and its variables must be valid. Where there are more fields than
// mostFields it stops: more are not priced, so that counting ends soon.
func priceOf(types map[string]*pricedType, operation *graphql.OperationContext, mostFields int) price {
	p := pricing{operation: operation, mostFields: mostFields}
	root := types["Query"]
	if operation.Operation.Operation == ast.Mutation {
		root = types["Mutation"]
	}
	total := p.selection(operation.Operation.SelectionSet, root, around{size: 1}).times(1)
	return price{
		ru:       math.Round(min(total.ru, priceCeiling)*100) / 100, // prices have two digits, as charges have
		elements: total.elements,
		fields:   p.fields,
		dearest:  total.dearest,
	}
}

// pricing is one counting under way.
type pricing struct {
	operation  *graphql.OperationContext
	mostFields int
	fields     int // so far
}

// around is what an object's fields are priced by, beside the object's type.
type around struct {
	size  float64 // how long lists are that have no size of their own: those of a connection
	whole bool    // whether the object is a whole item
}

// selection gives what a selection costs for one object of a type; of several types that the object can be, as if it
// were each of them where that is dearest. The fields are those that gqlgen is going to carry out.
func (p *pricing) selection(selections ast.SelectionSet, of *pricedType, a around) cost {
	var dearest cost
	for _, object := range of.possible {
		var c cost
		for _, field := range graphql.CollectFields(p.operation, selections, object.satisfies) {
			if p.fields++; p.fields > p.mostFields {
				return dearest
			}
			if priced := object.fields[field.Name]; priced != nil { // introspection has no price
				c = c.and(p.field(field, priced, a))
			}
		}
		dearest = dearest.or(c)
	}
	return dearest
}

// field gives what a field costs each time that it is answered.
func (p *pricing) field(field graphql.CollectedField, priced *pricedField, a around) cost {
	below := around{size: a.size, whole: priced.givesWhole}
	if priced.size != "" {
		below.size = p.size(field, priced)
	}
	c := p.below(field, priced, below)
	own := share{priced.name, field.Field, priced.ru + priced.element*below.size}
	c = c.and(cost{ru: own.ru, dearest: own})
	if priced.size != "" {
		c.elements += below.size
	}
	if priced.reads != nil && !(priced.needsWhole && a.whole) {
		c = c.and(cost{shared: []sharedShare{{priced.reads, share{name: priced.name, field: field.Field}}}})
	}
	return c
}

// below gives what the selection of a field costs.
func (p *pricing) below(field graphql.CollectedField, priced *pricedField, a around) cost {
	if priced.gives == nil {
		return cost{}
	}
	c := p.selection(field.Selections, priced.gives, a)
	switch {
	case priced.list:
		return c.times(a.size)
	case priced.alone:
		return c.times(1)
	}
	return c
}

// size gives how long the list of a field can be. What is not a size of a page counts as one that is: it is refused when the
// operation is carried out, before that list is read.
func (p *pricing) size(field graphql.CollectedField, priced *pricedField) float64 {
	argument := field.Arguments.ForName(priced.size)
	if argument == nil {
		return priced.usualSize
	}
	value, err := argument.Value.Value(p.operation.Variables)
	if err != nil {
		return blog.MaxPageSize
	}
	return max(1, min(sizeOf(value, priced.usualSize), blog.MaxPageSize))
}

// sizeOf reads a number, or the length of a list, in the forms in which gqlparser gives them.
func sizeOf(value any, usual float64) float64 {
	switch v := value.(type) {
	case nil:
		return usual
	case int64:
		return float64(v)
	case json.Number:
		if n, err := v.Float64(); err == nil {
			return n
		}
	case []any:
		return float64(len(v))
	case string: // stands for a list of one
		return 1
	}
	if list := reflect.ValueOf(value); list.Kind() == reflect.Slice { // of one, in a variable: a []string, for example
		return float64(list.Len())
	}
	return blog.MaxPageSize
}
