package price

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/vektah/gqlparser/v2/ast"
)

// List holds the prices of a schema by type name. It is immutable, so it may be used
// concurrently.
type List map[string]*pricedType

// pricedType holds the prices of a type's fields.
type pricedType struct {
	possible  []*pricedType // the object types of its objects; an object type has only itself
	satisfies []string      // the type conditions of fragments that match an object of this type
	fields    map[string]*pricedField
	whole     *batchRead // reads the whole item; nil if the type has no @read
}

// pricedField holds the price of one field. Its numbers come from the directives @price and
// @read.
type pricedField struct {
	name    string      // with its type, as in "Post.comments"
	returns *pricedType // nil for scalars
	isList  bool

	ru, element  float64 // for each time that the field is resolved, and for each element of its list
	perKiB       float64 // for each KiB of text in the arguments
	sizeArgument string  // the argument that limits the length of the list; empty if there is none
	defaultSize  float64 // used without that argument; 0 if the list has the size of the one around it
	endsBatch    bool    // reads below this field are not batched across its siblings
	returnsWhole bool
	needsWhole   bool

	returnsEntries bool
	notInEntries   bool

	read *batchRead // nil if the field reads nothing in addition to its parent object
}

// form is how much of an item an object has.
type form int

const (
	short form = iota // a copy or a reference
	whole             // the item as its own container has it
	entry             // of a list of entries: less than a copy
)

// formOf returns the form of the items that a field of an object returns, or that are below it. f
// is the form of the object, or for a connection or an edge, of its elements.
func (t *pricedType) formOf(field *pricedField, f form) form {
	switch {
	case field.returnsEntries:
		return entry
	case !t.isItem() && !field.returnsWhole: // of a connection or an edge: the form passes through it
		return f
	case !t.isItem() || field.returnsWhole && (f == whole || field.needsWhole): // a copy can only refer to another copy
		return whole
	}
	return short
}

// reads reports whether a field reads its batchRead for an object of a form.
func (f *pricedField) reads(of form) bool {
	return f.read != nil && !(f.needsWhole && of == whole) && !(f.notInEntries && of != entry)
}

// isItem reports whether the objects have an id of their own.
func (t *pricedType) isItem() bool { return slices.Contains(t.satisfies, "Node") }

// hasSize reports whether the schema says how long the field's list can be.
func (f *pricedField) hasSize() bool { return f.sizeArgument != "" || f.defaultSize > 0 }

// isStored reports whether the field is a list that is stored on its object.
func (f *pricedField) isStored() bool { return f.isList && f.sizeArgument == "" && f.defaultSize > 0 }

// batchRead is a read that runs once for all fields that need it and for all elements of their
// list. Two fields share a read if their pointers are equal. Its prices are in RU.
type batchRead struct{ alone, request, element float64 }

// itemsOfRead is the number of items that one request of a batched read returns at most.
const itemsOfRead = 100

// cost returns the price of reading n items.
func (r *batchRead) cost(n float64) float64 {
	if n <= 1 {
		return r.alone
	}
	return r.request*math.Ceil(n/itemsOfRead) + n*r.element
}

// NewList reads the prices from the schema's directives. It omits the types of introspection. It
// panics if a price is not a number, because the schema is part of the program.
func NewList(schema *ast.Schema) List {
	list := List{}
	for name, definition := range schema.Types {
		if !definition.BuiltIn && definition.IsCompositeType() {
			list[name] = &pricedType{
				satisfies: append([]string{name}, definition.Interfaces...),
				fields:    map[string]*pricedField{},
				whole:     newBatchRead(definition.Directives),
			}
		}
	}
	for name, t := range list {
		for _, possible := range schema.GetPossibleTypes(schema.Types[name]) {
			t.possible = append(t.possible, list[possible.Name])
		}
		for _, field := range schema.Types[name].Fields {
			t.fields[field.Name] = t.newField(name+"."+field.Name, field, list[field.Type.Name()])
		}
	}
	return list
}

// newField reads the prices of one of the type's fields.
func (t *pricedType) newField(name string, definition *ast.FieldDefinition, returns *pricedType) *pricedField {
	field := &pricedField{
		name: name, returns: returns, isList: definition.Type.Elem != nil,
		read: newBatchRead(definition.Directives),
	}
	price := definition.Directives.ForName("price")
	if price == nil {
		return field
	}
	arguments := price.ArgumentMap(nil)
	field.endsBatch = true
	field.ru, field.element = number(arguments["ru"]), number(arguments["element"])
	field.perKiB = number(arguments["perKiB"])
	field.returnsWhole, field.needsWhole = arguments["whole"] == true, arguments["needsWhole"] == true
	field.returnsEntries, field.notInEntries = arguments["entries"] == true, arguments["notInEntries"] == true
	if field.needsWhole || field.notInEntries {
		field.read = t.whole
	}
	if size, ok := arguments["size"].(string); ok {
		field.sizeArgument, field.defaultSize = size, 1
		if value := definition.Arguments.ForName(size).DefaultValue; value != nil {
			field.defaultSize = number(value.Raw)
		}
	} else if arguments["most"] != nil {
		field.defaultSize = number(arguments["most"])
	}
	return field
}

// newBatchRead returns the read of the directive @read, or nil if there is no such directive.
func newBatchRead(directives ast.DirectiveList) *batchRead {
	read := directives.ForName("read")
	if read == nil {
		return nil
	}
	arguments := read.ArgumentMap(nil)
	return &batchRead{
		alone:   number(arguments["alone"]),
		request: number(arguments["request"]),
		element: number(arguments["element"]),
	}
}

// number parses a number of the schema. gqlparser represents it as a float, an int or a string,
// depending on its notation.
func number(value any) float64 {
	n, err := strconv.ParseFloat(fmt.Sprint(value), 64)
	if err != nil {
		panic("price: the schema has a price that is not a number: " + err.Error())
	}
	return n
}
