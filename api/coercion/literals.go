package coercion

import (
	"encoding/json"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/core"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// Literals returns the rule "Values of Correct Type" (section 5.6.1), which checks the values that
// a document contains. If suggests is true, errors about an unknown input field suggest others. It
// takes the place of gqlparser's rule, which takes any integer of 64 bits for an Int, and an object
// for any scalar.
func Literals(suggests bool) core.Rule {
	return core.Rule{Name: literalsRule, RuleFunc: func(observers *core.Events, addError core.AddErrFunc) {
		observers.OnValue(func(_ *core.Walker, value *ast.Value) {
			if value.Definition == nil || value.ExpectedType == nil {
				return // the argument or input field is unknown, which other rules say
			}
			l := literal{Value: value, add: addError, suggests: suggests}
			switch {
			case value.Kind == ast.Variable:
			case value.Kind == ast.NullValue && value.ExpectedType.NonNull,
				value.Kind == ast.ListValue && value.ExpectedType.Elem == nil:
				l.isWrong()
			case value.Kind == ast.NullValue, value.Kind == ast.ListValue: // its elements are visited
			case value.Kind == ast.ObjectValue || value.Definition.Kind == ast.InputObject:
				l.checkObject()
			default:
				l.checkLeaf()
			}
		})
	}}
}

var literalsRule = rules.ValuesOfCorrectTypeRule.Name

// Convert converts the values of a valid document to the form in which they are executed.
//
//   - An integer that stands for an ID becomes a string.
//   - Variables have no definition: their values are those of the operation that is executed, with
//     its defaults. gqlparser would take the default of another operation, if a fragment that both
//     spread has the variable.
func Convert(schema *ast.Schema, document *ast.QueryDocument) {
	observers := new(core.Events)
	observers.OnValue(func(_ *core.Walker, value *ast.Value) {
		value.VariableDefinition = nil
		if value.Kind == ast.IntValue && value.Definition != nil && value.Definition.Name == "ID" {
			value.Kind, value.Raw = ast.StringValue, integerOf(json.Number(value.Raw))
		}
	})
	core.Walk(schema, document, observers)
}

// literal is a value of a document that is checked.
type literal struct {
	*ast.Value
	add      core.AddErrFunc
	suggests bool
}

// isWrong reports that the value is not one of its type.
func (l literal) isWrong() {
	l.add(core.Message(`Expected value of type "%s"`, l.ExpectedType), core.At(l.Position))
}

func (l literal) checkLeaf() {
	var value any = l.Raw // of a string
	switch l.Kind {
	case ast.IntValue:
		value = json.Number(l.Raw)
	case ast.FloatValue:
		value = fraction(l.Raw)
	case ast.BooleanValue:
		value = l.Raw == "true"
	case ast.EnumValue:
		value = enumValue(l.Raw)
	}
	if _, ok := leaf(value, l.Definition); !ok {
		l.isWrong()
	}
}

func (l literal) checkObject() {
	if l.Kind != ast.ObjectValue || l.Definition.Kind != ast.InputObject {
		l.isWrong()
		return
	}
	for _, field := range l.Definition.Fields {
		if field.Type.NonNull && field.DefaultValue == nil && l.Children.ForName(field.Name) == nil {
			l.add(core.Message(`Field "%s.%s" of required type "%s" was not provided.`, l.Definition.Name, field.Name, field.Type), core.At(l.Position))
		}
	}
	for _, child := range l.Children {
		if l.Definition.Fields.ForName(child.Name) != nil {
			continue
		}
		options := []core.ErrorOption{
			core.Message(`Field "%s" is not defined by type "%s".`, child.Name, l.Definition.Name), core.At(child.Position),
		}
		if l.suggests {
			var names []string
			for _, field := range l.Definition.Fields {
				names = append(names, field.Name)
			}
			options = append(options, core.SuggestListQuoted("Did you mean", child.Name, names))
		}
		l.add(options...)
	}
}
