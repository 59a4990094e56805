// Package introspection has the types and directives that every schema has, and describes schemas,
// as the edition of September 2025 defines them (sections 3.5, 3.13 and 4.2). gqlgen binds the
// introspection types to these, because its own have empty lists where the edition has null, and
// ignore `includeDeprecated` of arguments and input fields.
//
// All values are views of a schema, and may be used concurrently. Lists are in the order of the
// schema's text, after the built-in definitions.
package introspection

import (
	"cmp"
	_ "embed"
	"maps"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

//go:embed builtin.graphqls
var builtIn string

// BuiltIn returns the definitions of the types and directives that every schema has.
func BuiltIn() *ast.Source {
	return &ast.Source{Name: "builtin.graphqls", Input: builtIn, BuiltIn: true}
}

// Schema is a schema.
type Schema struct{ schema *ast.Schema }

// Of returns the description of a schema.
func Of(schema *ast.Schema) *Schema { return &Schema{schema} }

// Type returns a named type, or nil if the schema does not have it.
func (s *Schema) Type(name string) *Type {
	definition := s.schema.Types[name]
	if definition == nil {
		return nil
	}
	return &Type{schema: s.schema, definition: definition}
}

// Description returns the description of the schema, or nil.
func (s *Schema) Description() *string { return optional(s.schema.Description) }

// Types returns all named types, also those of this package.
func (s *Schema) Types() []*Type {
	definitions := slices.SortedFunc(maps.Values(s.schema.Types), func(a, b *ast.Definition) int {
		return inText(a.Position, b.Position)
	})
	types := make([]*Type, len(definitions))
	for i, definition := range definitions {
		types[i] = &Type{schema: s.schema, definition: definition}
	}
	return types
}

// inText compares positions by their order in the schema.
func inText(a, b *ast.Position) int {
	switch {
	case a.Src.BuiltIn && !b.Src.BuiltIn:
		return -1
	case b.Src.BuiltIn && !a.Src.BuiltIn:
		return 1
	}
	return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
}

// QueryType returns the type of queries.
func (s *Schema) QueryType() *Type { return s.root(s.schema.Query) }

// MutationType returns the type of mutations, or nil.
func (s *Schema) MutationType() *Type { return s.root(s.schema.Mutation) }

// SubscriptionType returns the type of subscriptions, or nil.
func (s *Schema) SubscriptionType() *Type { return s.root(s.schema.Subscription) }

func (s *Schema) root(definition *ast.Definition) *Type {
	if definition == nil {
		return nil
	}
	return s.Type(definition.Name)
}

// Directives returns all directives.
func (s *Schema) Directives() []*Directive {
	definitions := slices.SortedFunc(maps.Values(s.schema.Directives), func(a, b *ast.DirectiveDefinition) int {
		return inText(a.Position, b.Position)
	})
	directives := make([]*Directive, len(definitions))
	for i, definition := range definitions {
		directives[i] = &Directive{Name: definition.Name, IsRepeatable: definition.IsRepeatable, schema: s.schema, definition: definition}
	}
	return directives
}

// Type is a named type, or one that wraps another.
type Type struct {
	schema     *ast.Schema
	definition *ast.Definition // nil for a type that wraps another
	wrapper    *ast.Type       // nil for a named type
}

// typeOf returns a type as a field or an argument has it.
func typeOf(schema *ast.Schema, t *ast.Type) *Type {
	if t.NonNull || t.Elem != nil {
		return &Type{schema: schema, wrapper: t}
	}
	return &Type{schema: schema, definition: schema.Types[t.NamedType]}
}

// is reports whether the type is of one of some kinds of named types.
func (t *Type) is(kinds ...ast.DefinitionKind) bool {
	return t.definition != nil && slices.Contains(kinds, t.definition.Kind)
}

// Kind returns the type's kind, a value of __TypeKind.
func (t *Type) Kind() string {
	switch {
	case t.definition != nil:
		return string(t.definition.Kind)
	case t.wrapper.NonNull:
		return "NON_NULL"
	}
	return "LIST"
}

// Name returns the name of a named type, or nil.
func (t *Type) Name() *string {
	if t.definition == nil {
		return nil
	}
	return &t.definition.Name
}

// Description returns the description of a named type, or nil.
func (t *Type) Description() *string {
	if t.definition == nil {
		return nil
	}
	return optional(t.definition.Description)
}

// SpecifiedByURL returns the URL of a scalar's specification, or nil.
func (t *Type) SpecifiedByURL() *string {
	if !t.is(ast.Scalar) {
		return nil
	}
	return argumentOf(t.definition.Directives.ForName("specifiedBy"), "url")
}

// Fields returns the fields of an object or an interface, or nil.
func (t *Type) Fields(includeDeprecated bool) []*Field {
	if !t.is(ast.Object, ast.Interface) {
		return nil
	}
	fields := []*Field{}
	for _, f := range t.definition.Fields {
		if deprecated := deprecationOf(f.Directives); !strings.HasPrefix(f.Name, "__") && (includeDeprecated || !deprecated.IsDeprecated()) {
			fields = append(fields, &Field{Name: f.Name, deprecation: deprecated, schema: t.schema, definition: f})
		}
	}
	return fields
}

// Interfaces returns the interfaces of an object or an interface, or nil.
func (t *Type) Interfaces() []*Type {
	if !t.is(ast.Object, ast.Interface) {
		return nil
	}
	interfaces := []*Type{}
	for _, name := range t.definition.Interfaces {
		interfaces = append(interfaces, &Type{schema: t.schema, definition: t.schema.Types[name]})
	}
	return interfaces
}

// PossibleTypes returns the objects of an interface or a union, or nil.
func (t *Type) PossibleTypes() []*Type {
	if !t.is(ast.Interface, ast.Union) {
		return nil
	}
	types := []*Type{}
	for _, definition := range t.schema.GetPossibleTypes(t.definition) {
		if definition.Kind == ast.Object {
			types = append(types, &Type{schema: t.schema, definition: definition})
		}
	}
	return types
}

// EnumValues returns the values of an enum, or nil.
func (t *Type) EnumValues(includeDeprecated bool) []*EnumValue {
	if !t.is(ast.Enum) {
		return nil
	}
	values := []*EnumValue{}
	for _, v := range t.definition.EnumValues {
		if deprecated := deprecationOf(v.Directives); includeDeprecated || !deprecated.IsDeprecated() {
			values = append(values, &EnumValue{Name: v.Name, deprecation: deprecated, description: v.Description})
		}
	}
	return values
}

// InputFields returns the fields of an input object, or nil.
func (t *Type) InputFields(includeDeprecated bool) []*InputValue {
	if !t.is(ast.InputObject) {
		return nil
	}
	values := []*InputValue{}
	for _, f := range t.definition.Fields {
		values = appendInput(values, t.schema, includeDeprecated, f.Name, f.Description, f.Type, f.DefaultValue, f.Directives)
	}
	return values
}

// OfType returns the type that a list or a type without null is of, or nil.
func (t *Type) OfType() *Type {
	switch {
	case t.wrapper == nil:
		return nil
	case t.wrapper.NonNull:
		nullable := *t.wrapper
		nullable.NonNull = false
		return typeOf(t.schema, &nullable)
	}
	return typeOf(t.schema, t.wrapper.Elem)
}

// IsOneOf reports whether exactly one field of an input object must be given. It is nil for other
// types.
func (t *Type) IsOneOf() *bool {
	if !t.is(ast.InputObject) {
		return nil
	}
	is := t.definition.Directives.ForName("oneOf") != nil
	return &is
}

// Field is a field of an object or an interface.
type Field struct {
	Name string
	deprecation
	schema     *ast.Schema
	definition *ast.FieldDefinition
}

// Description returns the description of the field, or nil.
func (f *Field) Description() *string { return optional(f.definition.Description) }

// Args returns the arguments of the field.
func (f *Field) Args(includeDeprecated bool) []*InputValue {
	return arguments(f.schema, f.definition.Arguments, includeDeprecated)
}

// Type returns the type of the field.
func (f *Field) Type() *Type { return typeOf(f.schema, f.definition.Type) }

// InputValue is an argument, or a field of an input.
type InputValue struct {
	Name string
	deprecation
	description string
	schema      *ast.Schema
	typ         *ast.Type
	value       *ast.Value // the default, or nil
}

// Description returns the description of the value, or nil.
func (v *InputValue) Description() *string { return optional(v.description) }

// Type returns the type of the value.
func (v *InputValue) Type() *Type { return typeOf(v.schema, v.typ) }

// DefaultValue returns the default in the syntax of GraphQL, or nil.
func (v *InputValue) DefaultValue() *string {
	if v.value == nil {
		return nil
	}
	text := v.value.String()
	return &text
}

func arguments(schema *ast.Schema, definitions ast.ArgumentDefinitionList, includeDeprecated bool) []*InputValue {
	values := []*InputValue{}
	for _, a := range definitions {
		values = appendInput(values, schema, includeDeprecated, a.Name, a.Description, a.Type, a.DefaultValue, a.Directives)
	}
	return values
}

func appendInput(
	to []*InputValue, schema *ast.Schema, includeDeprecated bool,
	name, description string, t *ast.Type, value *ast.Value, directives ast.DirectiveList,
) []*InputValue {
	deprecated := deprecationOf(directives)
	if deprecated.IsDeprecated() && !includeDeprecated {
		return to
	}
	return append(to, &InputValue{Name: name, deprecation: deprecated, description: description, schema: schema, typ: t, value: value})
}

// EnumValue is a value of an enum.
type EnumValue struct {
	Name string
	deprecation
	description string
}

// Description returns the description of the value, or nil.
func (v *EnumValue) Description() *string { return optional(v.description) }

// Directive is a directive.
type Directive struct {
	Name         string
	IsRepeatable bool
	schema       *ast.Schema
	definition   *ast.DirectiveDefinition
}

// Description returns the description of the directive, or nil.
func (d *Directive) Description() *string { return optional(d.definition.Description) }

// Locations returns the places where the directive can be, values of __DirectiveLocation.
func (d *Directive) Locations() []string {
	locations := make([]string, len(d.definition.Locations))
	for i, location := range d.definition.Locations {
		locations[i] = string(location)
	}
	return locations
}

// Args returns the arguments of the directive.
func (d *Directive) Args(includeDeprecated bool) []*InputValue {
	return arguments(d.schema, d.definition.Arguments, includeDeprecated)
}

// deprecation is whether, and why, something is deprecated.
type deprecation struct{ reason *string }

func deprecationOf(directives ast.DirectiveList) deprecation {
	directive := directives.ForName("deprecated")
	if directive == nil {
		return deprecation{}
	}
	reason := argumentOf(directive, "reason")
	if reason == nil {
		reason = &directive.Definition.Arguments.ForName("reason").DefaultValue.Raw
	}
	return deprecation{reason}
}

// IsDeprecated reports whether it is deprecated.
func (d deprecation) IsDeprecated() bool { return d.reason != nil }

// DeprecationReason returns why it is deprecated, or nil if it is not.
func (d deprecation) DeprecationReason() *string { return d.reason }

// argumentOf returns an argument of a directive, or nil.
func argumentOf(directive *ast.Directive, name string) *string {
	if directive == nil {
		return nil
	}
	argument := directive.Arguments.ForName(name)
	if argument == nil {
		return nil
	}
	return &argument.Value.Raw
}

func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
