package graph

import (
	"errors"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator"

	"cosmosblog/graph/introspection"
)

// SDL returns the text of schema.graphqls, the schema that generated.go was generated from.
func SDL() string { return sources[0].Input }

// mustLoadSchema loads the schema for generated.go, with the definitions of package introspection.
func mustLoadSchema(sources ...*ast.Source) *ast.Schema {
	schema, err := validator.LoadSchema(append([]*ast.Source{introspection.BuiltIn()}, sources...)...)
	if err != nil {
		panic(err)
	}
	return schema
}

// IntrospectSchema returns what __schema describes. Like IntrospectType, it takes the place of
// gqlgen's method of that name. Error: introspection is disabled.
func (ec *executionContext) IntrospectSchema() (*introspection.Schema, error) {
	if ec.DisableIntrospection {
		return nil, errNoIntrospection
	}
	return introspection.Of(ec.Schema()), nil
}

// IntrospectType returns what __type describes, or nil. Error: introspection is disabled.
func (ec *executionContext) IntrospectType(name string) (*introspection.Type, error) {
	schema, err := ec.IntrospectSchema()
	if err != nil {
		return nil, err
	}
	return schema.Type(name), nil
}

var errNoIntrospection = errors.New("introspection is disabled")
