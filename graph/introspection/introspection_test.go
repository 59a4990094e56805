package introspection_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator"

	"cosmosblog/graph/introspection"
)

const example = `
scalar Date @specifiedBy(url: "https://example.com/date")
type Query { old(a: Int @deprecated, b: [Int!]! = [1]): Int @deprecated(reason: "use new") new: Thing }
interface Named { name: String }
type Thing implements Named { name: String }
union Any = Query | Thing
enum Color { RED GREEN @deprecated }
input Choice @oneOf { a: Int b: String @deprecated(reason: "no") }
input Pair { a: Int = 3 }
directive @marks("why" a: Int, b: Int @deprecated) repeatable on FIELD | QUERY
`

func load(t *testing.T) *introspection.Schema {
	schema, err := validator.LoadSchema(introspection.BuiltIn(), &ast.Source{Name: "example", Input: example})
	if err != nil {
		t.Fatal(err)
	}
	return introspection.Of(schema)
}

// Section 4.2.2 says for each kind which fields are not null; "all other fields must return null".
func TestFieldsOfOtherKindsAreNull(t *testing.T) {
	schema := load(t)
	number := schema.Type("Query").Fields(true)[0].Args(true)[1].Type()
	for want, typ := range map[string]*introspection.Type{
		"SCALAR Date url":                           schema.Type("Date"),
		"SCALAR Int":                                schema.Type("Int"),
		"OBJECT Thing fields interfaces":            schema.Type("Thing"),
		"INTERFACE Named fields interfaces objects": schema.Type("Named"),
		"UNION Any objects":                         schema.Type("Any"),
		"ENUM Color values":                         schema.Type("Color"),
		"INPUT_OBJECT Pair inputs false":            schema.Type("Pair"),
		"INPUT_OBJECT Choice inputs true":           schema.Type("Choice"),
		"NON_NULL of":                               number,
		"LIST of":                                   number.OfType(),
	} {
		got := typ.Kind()
		add := func(isSet bool, word string) {
			if isSet {
				got += " " + word
			}
		}
		if name := typ.Name(); name != nil {
			add(true, *name)
		}
		add(typ.SpecifiedByURL() != nil, "url")
		add(typ.Fields(false) != nil, "fields")
		add(typ.Interfaces() != nil, "interfaces")
		add(typ.PossibleTypes() != nil, "objects")
		add(typ.EnumValues(false) != nil, "values")
		add(typ.InputFields(false) != nil, "inputs")
		add(typ.OfType() != nil, "of")
		if is := typ.IsOneOf(); is != nil {
			add(true, fmt.Sprint(*is))
		}
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if got := *number.OfType().OfType().OfType().Name(); got != "Int" {
		t.Errorf("the innermost type is %s", got)
	}
	if schema.Type("Missing") != nil || schema.MutationType() != nil || *schema.QueryType().Name() != "Query" {
		t.Error("wrong root types")
	}
}

// What is deprecated is left out unless it is asked for, also of arguments and inputs (section
// 4.2).
func TestDeprecated(t *testing.T) {
	schema := load(t)
	query, marks := schema.Type("Query"), schema.Directives()[len(schema.Directives())-1]
	for _, test := range []struct {
		of         string
		few, all   int
		deprecated func() (string, *string)
		reason     string
	}{
		{"fields", len(query.Fields(false)), len(query.Fields(true)), func() (string, *string) {
			f := query.Fields(true)[0]
			return f.Name, f.DeprecationReason()
		}, "old: use new"},
		{"arguments", len(query.Fields(true)[0].Args(false)), len(query.Fields(true)[0].Args(true)), func() (string, *string) {
			a := query.Fields(true)[0].Args(true)[0]
			return a.Name, a.DeprecationReason()
		}, "a: No longer supported"},
		{"values", len(schema.Type("Color").EnumValues(false)), len(schema.Type("Color").EnumValues(true)), func() (string, *string) {
			v := schema.Type("Color").EnumValues(true)[1]
			return v.Name, v.DeprecationReason()
		}, "GREEN: No longer supported"},
		{"inputs", len(schema.Type("Choice").InputFields(false)), len(schema.Type("Choice").InputFields(true)), func() (string, *string) {
			f := schema.Type("Choice").InputFields(true)[1]
			return f.Name, f.DeprecationReason()
		}, "b: no"},
		{"arguments of directives", len(marks.Args(false)), len(marks.Args(true)), func() (string, *string) {
			a := marks.Args(true)[1]
			return a.Name, a.DeprecationReason()
		}, "b: No longer supported"},
	} {
		name, reason := test.deprecated()
		if test.few != 1 || test.all != 2 || reason == nil || name+": "+*reason != test.reason {
			t.Errorf("%s: %d, %d with the deprecated ones: %s %v", test.of, test.few, test.all, name, reason)
		}
	}
	if value := query.Fields(true)[0].Args(true)[1].DefaultValue(); *value != "[1]" {
		t.Errorf("the default is %s", *value)
	}
	if field := query.Fields(true)[1]; field.IsDeprecated() || field.DeprecationReason() != nil {
		t.Error("a field is deprecated")
	}
	if got := marks.Locations(); !marks.IsRepeatable || !slices.Equal(got, []string{"FIELD", "QUERY"}) {
		t.Errorf("@marks is at %v", got)
	}
}

// "The observable order of all data collections should be preserved" (section 4.1).
func TestOrderOfTheSchema(t *testing.T) {
	var names []string
	for _, typ := range load(t).Types() {
		names = append(names, *typ.Name())
	}
	if want := []string{"Date", "Query", "Named", "Thing", "Any", "Color", "Choice", "Pair"}; !slices.Equal(names[len(names)-len(want):], want) {
		t.Errorf("the types are %v", names)
	}
}
