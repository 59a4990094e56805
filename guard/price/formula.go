package price

import (
	"math"
	"unsafe"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"cosmosblog/blog"
)

// Formula computes the price of one operation from its variables. It is immutable, so it may be
// used concurrently.
type Formula struct {
	root     selection
	fields   int
	parts    int    // number of parts in root, with those below
	texts    int    // number of texts in the parts
	constant *Price // if no size depends on a variable
}

// part is a field of an operation that has a price, or fields below that have one.
type part struct {
	priced   *pricedField
	field    *ast.Field
	size     float64    // of the field's list, unless it has a variable
	variable *ast.Value // of the argument for the size; nil if the size is constant
	reads    bool       // the field needs priced.read
	texts    []string   // of the arguments that depend on a variable; for a field with a price for text
	bytes    float64    // of the other arguments' texts
	below    selection
}

// selection has the parts of one selection for each type that its objects can have. Types without
// parts are left out.
type selection [][]part

// Prepare returns the formula of an operation for every value of its variables. It returns nil if
// there is none, because the fields of the operation depend on a variable, in @skip or @include.
// The document must be valid. For maxFields, see List.Price.
func (l List) Prepare(document *ast.QueryDocument, operation *ast.OperationDefinition, maxFields int) *Formula {
	if hasVariableCondition(document) {
		return nil
	}
	f := l.prepare(&graphql.OperationContext{Doc: document, Operation: operation}, maxFields)
	if f.fields > maxFields {
		return nil // Price rejects it as fast as without a formula
	}
	if !f.root.hasVariable() {
		price := f.Price(nil)
		f.constant = &price
	}
	return f
}

// hasVariableCondition reports whether a field of the document depends on a variable.
func hasVariableCondition(document *ast.QueryDocument) bool {
	for _, operation := range document.Operations {
		if dependOnVariable(operation.SelectionSet) {
			return true
		}
	}
	for _, fragment := range document.Fragments {
		if dependOnVariable(fragment.SelectionSet) {
			return true
		}
	}
	return false
}

func dependOnVariable(selections ast.SelectionSet) bool {
	for _, s := range selections {
		var directives ast.DirectiveList
		var below ast.SelectionSet
		switch s := s.(type) {
		case *ast.Field:
			directives, below = s.Directives, s.SelectionSet
		case *ast.InlineFragment:
			directives, below = s.Directives, s.SelectionSet
		case *ast.FragmentSpread:
			directives = s.Directives
		}
		for _, directive := range directives {
			for _, argument := range directive.Arguments {
				if hasVariable(argument.Value) {
					return true
				}
			}
		}
		if dependOnVariable(below) {
			return true
		}
	}
	return false
}

// hasVariable reports whether a value is a variable or contains one.
func hasVariable(value *ast.Value) bool {
	if value.Kind == ast.Variable {
		return true
	}
	for _, child := range value.Children {
		if hasVariable(child.Value) {
			return true
		}
	}
	return false
}

func (s selection) hasVariable() bool {
	for _, parts := range s {
		for _, p := range parts {
			if p.variable != nil || len(p.texts) > 0 || p.below.hasVariable() {
				return true
			}
		}
	}
	return false
}

// Bytes returns the memory that the formula takes, without the document.
func (f *Formula) Bytes() int {
	const perPart = unsafe.Sizeof(part{}) + unsafe.Sizeof([]part{})                 // at most one list for each part
	bytes := int(unsafe.Sizeof(*f)+unsafe.Sizeof(Price{})) + 2*f.parts*int(perPart) // append can double
	return bytes + 2*f.texts*int(unsafe.Sizeof(""))
}

// prepare returns the formula of an operation with the conditions of its variables.
func (l List) prepare(operation *graphql.OperationContext, maxFields int) *Formula {
	root := l["Query"]
	switch operation.Operation.Operation {
	case ast.Mutation:
		root = l["Mutation"]
	case ast.Subscription:
		root = l["Subscription"]
	}
	p := preparation{operation: operation, maxFields: maxFields}
	selected := p.selection(operation.Operation.SelectionSet, root, short)
	return &Formula{root: selected, fields: p.fields, parts: p.parts, texts: p.texts}
}

// preparation is the state of one call to prepare.
type preparation struct {
	operation *graphql.OperationContext
	maxFields int
	fields    int // counted so far
	parts     int
	texts     int
}

// selection returns the priced parts of a selection. f is the form of the items that the field
// around it returns. It visits the same fields as gqlgen's execution.
func (p *preparation) selection(selections ast.SelectionSet, of *pricedType, f form) selection {
	var all selection
	for _, object := range of.possible {
		var parts []part
		for _, field := range graphql.CollectFields(p.operation, selections, object.satisfies) {
			if p.fields++; p.fields > p.maxFields {
				return all
			}
			if priced := object.fields[field.Name]; priced != nil { // introspection has no price
				if part, costs := p.part(field, priced, f, object); costs {
					parts = append(parts, part)
				}
			}
		}
		if len(parts) > 0 {
			all = append(all, parts)
			p.parts += len(parts)
		}
	}
	return all
}

// part returns the part of a field. It returns false if neither the field nor those below cost
// anything.
func (p *preparation) part(field graphql.CollectedField, priced *pricedField, f form, object *pricedType) (part, bool) {
	made := part{priced: priced, field: field.Field, reads: priced.reads(f)}
	if priced.sizeArgument == "" {
		made.size = priced.defaultSize
	} else {
		switch argument := field.Arguments.ForName(priced.sizeArgument); {
		case argument == nil:
			made.size = priced.defaultSize
		case hasVariable(argument.Value):
			made.variable = argument.Value
		default:
			made.size = priced.sizeOf(argument.Value, nil)
		}
	}
	if priced.perKiB != 0 {
		for _, argument := range field.Arguments {
			made.bytes += p.bytesOf(argument.Value, &made.texts)
		}
	}
	if priced.returns != nil {
		made.below = p.selection(field.Selections, priced.returns, object.formOf(priced, f))
	}
	costs := priced.ru != 0 || priced.perKiB != 0 || priced.element != 0 || priced.hasSize() || made.reads || len(made.below) > 0
	return made, costs
}

// Price returns the price of the operation with variables, which must be valid.
func (f *Formula) Price(variables map[string]any) Price {
	if f.constant != nil {
		return *f.constant
	}
	total := f.root.cost(variables, 1).times(1)
	p := Price{RU: rounded(total.ru), Elements: total.elements, Fields: f.fields, MostExpensive: total.mostExpensive}
	p.MostExpensive.RU = rounded(p.MostExpensive.RU)
	return p
}

// rounded returns an amount of RU, at most maxRU, with two digits, as request charges have.
func rounded(ru float64) float64 { return math.Round(min(ru, maxRU)*100) / 100 }

// cost returns the cost of a selection for one object. If the object can be of several types, each
// number of the cost is that of the most expensive type. listSize is the length of the nearest list
// around it; connections pass it on to their nodes and edges.
func (s selection) cost(variables map[string]any, listSize float64) cost {
	var highest cost
	for _, parts := range s {
		var total cost
		for i := range parts {
			total = total.plus(parts[i].cost(variables, listSize))
		}
		highest = highest.max(total)
	}
	return highest
}

// cost returns the cost of a field and its subfields for one object.
func (p *part) cost(variables map[string]any, listSize float64) cost {
	hasSize := p.priced.hasSize()
	switch {
	case p.variable != nil:
		listSize = p.priced.sizeOf(p.variable, variables)
	case hasSize:
		listSize = p.size
	}
	total := p.subfields(variables, listSize)
	own := FieldPrice{p.priced.name, p.field, p.priced.ru + p.priced.element*listSize + p.textCost(variables)}
	total = total.plus(cost{ru: own.RU, mostExpensive: own})
	if hasSize {
		total.elements += listSize
	}
	if p.reads {
		batched := batchedField{p.priced.read, FieldPrice{Name: p.priced.name, Field: p.field}, 1}
		total = total.plus(cost{batched: []batchedField{batched}})
	}
	return total
}

// subfields returns the cost of a field's selection for all objects that the field returns.
func (p *part) subfields(variables map[string]any, listSize float64) cost {
	each := p.below.cost(variables, listSize)
	switch {
	case p.priced.isStored():
		return each.scaled(listSize)
	case p.priced.isList:
		return each.times(listSize)
	case p.priced.endsBatch:
		return each.times(1)
	}
	return each
}

// sizeOf returns the maximum length of the field's list. It replaces sizes that no page can have by
// the nearest valid size, because the resolver rejects them before it reads the list.
func (f *pricedField) sizeOf(argument *ast.Value, variables map[string]any) float64 {
	value, err := argument.Value(variables)
	if err != nil {
		return blog.MaxPageSize
	}
	return max(1, min(sizeOf(value, f.defaultSize), blog.MaxPageSize))
}
