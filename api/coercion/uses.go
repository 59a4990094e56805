package coercion

import (
	"regexp"
	"slices"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// use identifies the argument or input field that receives a value.
type use struct {
	path []any  // names of arguments and input fields, and indexes in lists
	name string // in the schema, such as "CreatePostInput.title" or "Query.user.id"
}

// at returns the use of a part of the value.
func (u use) at(step any) use { return use{append(slices.Clip(u.path), step), u.name} }

// fieldName is a name that an error may repeat although the schema has no such field. Everything
// else that clients send stays out of answers.
var fieldName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)

// atUnknown returns the use of a field that the type of the value does not define. It returns that
// of the value if the field's name is too long, or is not a name.
func (u use) atUnknown(name string) use {
	if !fieldName.MatchString(name) {
		return u
	}
	return u.at(name)
}

// usesOf returns the first use of each variable of an operation. The document must be valid.
func usesOf(document *ast.QueryDocument, operation *ast.OperationDefinition) map[string]use {
	uses := map[string]use{}
	w := newValueWalker(document, func(value *ast.Value, u use) {
		if _, known := uses[value.Raw]; value.Kind == ast.Variable && !known {
			uses[value.Raw] = u
		}
	})
	w.selections(operation.SelectionSet)
	return uses
}

// CountUses returns how often an operation uses a variable. A use in a fragment counts once.
func CountUses(document *ast.QueryDocument, operation *ast.OperationDefinition, variable string) (uses int) {
	w := newValueWalker(document, func(value *ast.Value, _ use) {
		if value.Kind == ast.Variable && value.Raw == variable {
			uses++
		}
	})
	w.directives(operation.Directives)
	w.selections(operation.SelectionSet)
	return uses
}

// valueWalker visits the values of a document. It visits each fragment once.
type valueWalker struct {
	document *ast.QueryDocument
	do       func(*ast.Value, use)
	seen     map[string]bool
}

func newValueWalker(document *ast.QueryDocument, do func(*ast.Value, use)) valueWalker {
	return valueWalker{document: document, do: do, seen: map[string]bool{}}
}

func (w valueWalker) selections(selections ast.SelectionSet) {
	for _, selection := range selections {
		switch s := selection.(type) {
		case *ast.Field:
			parent := ""
			if s.ObjectDefinition != nil {
				parent = s.ObjectDefinition.Name
			}
			w.arguments(parent+"."+s.Name, s.Arguments)
			w.directives(s.Directives)
			w.selections(s.SelectionSet)
		case *ast.InlineFragment:
			w.directives(s.Directives)
			w.selections(s.SelectionSet)
		case *ast.FragmentSpread:
			w.directives(s.Directives)
			if fragment := w.document.Fragments.ForName(s.Name); fragment != nil && !w.seen[s.Name] {
				w.seen[s.Name] = true
				w.selections(fragment.SelectionSet)
			}
		}
	}
}

func (w valueWalker) directives(directives ast.DirectiveList) {
	for _, directive := range directives {
		w.arguments("@"+directive.Name, directive.Arguments)
	}
}

func (w valueWalker) arguments(of string, arguments ast.ArgumentList) {
	for _, argument := range arguments {
		w.value(argument.Value, use{[]any{argument.Name}, of + "." + argument.Name})
	}
}

func (w valueWalker) value(value *ast.Value, u use) {
	w.do(value, u)
	for i, child := range value.Children {
		if value.Kind == ast.ListValue {
			w.value(child.Value, u.at(i))
			continue
		}
		below := u.at(child.Name)
		if value.Definition != nil {
			below.name = value.Definition.Name + "." + child.Name
		}
		w.value(child.Value, below)
	}
}

// NameFields adds the path of the invalid argument or input field to the violations that are about
// one. Their paths contain names of the schema, and those of unknown fields of inputs.
func NameFields(document *ast.QueryDocument, violations gqlerror.List) {
	wanted := map[gqlerror.Location][]*gqlerror.Error{}
	for _, violation := range violations {
		if match := missingArgument.FindStringSubmatch(violation.Message); match != nil {
			nameField(violation, match[1])
		} else if isAboutValue(violation) {
			at := violation.Locations[0]
			wanted[at] = append(wanted[at], violation)
		}
	}
	if len(wanted) == 0 {
		return
	}
	name := func(position *ast.Position, u use) {
		if position == nil {
			return
		}
		at := gqlerror.Location{Line: position.Line, Column: position.Column}
		for _, violation := range wanted[at] {
			below := u
			if match := missingField.FindStringSubmatch(violation.Message); match != nil {
				below = u.at(match[1])
			}
			nameField(violation, below.path...)
		}
		delete(wanted, at)
	}
	w := newValueWalker(document, func(value *ast.Value, u use) {
		name(value.Position, u)
		if value.Kind != ast.ObjectValue {
			return
		}
		for _, field := range value.Children { // violations at a field's name are about unknown fields
			name(field.Position, u.atUnknown(field.Name))
		}
	})
	for _, operation := range document.Operations {
		w.selections(operation.SelectionSet)
	}
}

var (
	missingField    = regexp.MustCompile(`^Field "\w+\.(\w+)" of required type "[\w!\[\]]+" was not provided`)
	missingArgument = regexp.MustCompile(`^Field "\w+" argument "(\w+)" of type "[\w!\[\]]+" is required`)
)

// isAboutValue reports whether a violation is about the value of an argument or input field.
func isAboutValue(violation *gqlerror.Error) bool {
	return violation.Rule == literalsRule && len(violation.Locations) == 1
}

func nameField(violation *gqlerror.Error, path ...any) {
	if violation.Extensions == nil {
		violation.Extensions = map[string]any{}
	}
	violation.Extensions["field"] = path
}
