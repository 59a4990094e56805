package resolvers

import (
	"fmt"
	"strconv"

	"github.com/vektah/gqlparser/v2/ast"
)

// pricedType is what the schema's directives @price and @read say of a type and its fields. It does not change, and may
// be used concurrently.
type pricedType struct {
	possible  []*pricedType // the object types it can be: of an object type, that type itself
	satisfies []string      // the types that a fragment on objects of this type can name
	fields    map[string]*pricedField
	whole     *sharedRead // of the whole item; nil where there is none
}

// pricedField is a field of an object type.
type pricedField struct {
	name  string      // with its type, as in Post.comments
	gives *pricedType // nil for what has no fields
	list  bool

	ru, element float64
	size        string  // the argument that says how long its list is; empty where there is none
	usualSize   float64 // where that argument is not given
	alone       bool    // whether what is below is read for it alone
	givesWhole  bool
	needsWhole  bool
	reads       *sharedRead // nil where it needs nothing more than what its object was read from
}

// sharedRead is a read that is done once for all fields that need it, and for all elements of a list together. Two are
// the same where their pointers are.
type sharedRead struct{ alone, request, element float64 }

// of gives what reading n of them costs.
func (r *sharedRead) of(n float64) float64 {
	if n <= 1 {
		return r.alone
	}
	return r.request + n*r.element
}

// newPriceList gives the types of a schema by name, but introspection's. It panics where a price is none: the schema is
// part of the program.
func newPriceList(schema *ast.Schema) map[string]*pricedType {
	types := map[string]*pricedType{}
	for name, definition := range schema.Types {
		if !definition.BuiltIn && definition.IsCompositeType() {
			types[name] = &pricedType{
				satisfies: append([]string{name}, definition.Interfaces...),
				fields:    map[string]*pricedField{},
				whole:     readOf(definition.Directives),
			}
		}
	}
	for name, t := range types {
		for _, possible := range schema.GetPossibleTypes(schema.Types[name]) {
			t.possible = append(t.possible, types[possible.Name])
		}
		for _, field := range schema.Types[name].Fields {
			t.fields[field.Name] = t.field(name+"."+field.Name, field, types[field.Type.Name()])
		}
	}
	return types
}

// field reads the directives of a field of the type.
func (t *pricedType) field(name string, definition *ast.FieldDefinition, gives *pricedType) *pricedField {
	field := &pricedField{name: name, gives: gives, list: definition.Type.Elem != nil, reads: readOf(definition.Directives)}
	price := definition.Directives.ForName("price")
	if price == nil {
		return field
	}
	arguments := price.ArgumentMap(nil)
	field.alone = true
	field.ru, field.element = number(arguments["ru"]), number(arguments["element"])
	field.givesWhole, field.needsWhole = arguments["whole"] == true, arguments["needsWhole"] == true
	if field.needsWhole {
		field.reads = t.whole
	}
	if size, ok := arguments["size"].(string); ok {
		field.size, field.usualSize = size, 1
		if usual := definition.Arguments.ForName(size).DefaultValue; usual != nil {
			field.usualSize = number(usual.Raw)
		}
	}
	return field
}

// readOf gives what @read says, and nil where it is not there.
func readOf(directives ast.DirectiveList) *sharedRead {
	read := directives.ForName("read")
	if read == nil {
		return nil
	}
	arguments := read.ArgumentMap(nil)
	return &sharedRead{number(arguments["alone"]), number(arguments["request"]), number(arguments["element"])}
}

// number reads a number of the schema, which gqlparser gives as a float, an int or a text, as it is written.
func number(value any) float64 {
	n, err := strconv.ParseFloat(fmt.Sprint(value), 64)
	if err != nil {
		panic("resolvers: a price that is none: " + err.Error())
	}
	return n
}
