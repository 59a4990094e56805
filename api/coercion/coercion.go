// Package coercion checks the input values of operations, and converts them to one form: those that
// a query contains, the defaults of its variables, and those of its variables. It also names the
// arguments and input fields that errors are about.
//
// A value is checked as the edition of September 2025 says (sections 3.5 to 3.12, "Input
// Coercion"), before anything of its operation runs. Afterwards, an Int is an integer of 32 bits,
// an ID is a string, and an enum has one of its values, however they were written.
package coercion

import (
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"cosmosblog/blog"
)

// Variables returns the values of an operation's variables as their types have them. values are
// those of a request, as JSON; they are not changed. Values without a variable are ignored.
//
// It returns one error for each invalid value, at most limit. Each has the path of the argument or
// input field that the value is for. If there is an error, the other values are checked against the
// rules of their fields too, so that a form gets all its errors in one answer. Otherwise, the
// commands do that.
func Variables(
	schema *ast.Schema, document *ast.QueryDocument, operation *ast.OperationDefinition, values map[string]any, limit int,
) (map[string]any, gqlerror.List) {
	c := variableCheck{schema: schema, limit: limit}
	coerced := c.checkAll(operation, values)
	if len(c.errs) == 0 {
		return coerced, nil
	}
	c.errs, c.uses = nil, usesOf(document, operation)
	c.checkAll(operation, values)
	return nil, c.errs
}

// variableCheck is the state of one call to Variables.
type variableCheck struct {
	schema *ast.Schema
	limit  int
	uses   map[string]use // nil in the first pass, which only looks for errors of types
	errs   gqlerror.List

	current *ast.VariableDefinition
}

func (c *variableCheck) checkAll(operation *ast.OperationDefinition, values map[string]any) map[string]any {
	coerced := make(map[string]any, len(operation.VariableDefinitions))
	for _, c.current = range operation.VariableDefinitions {
		use := c.uses[c.current.Variable]
		value, isSet := values[c.current.Variable]
		switch {
		case isSet:
			coerced[c.current.Variable] = c.check(value, c.current.Type, use, nil)
		case c.current.Type.NonNull && c.current.DefaultValue == nil:
			c.report("is required", use, nil)
		}
	}
	return coerced
}

// check returns a value as its type has it. path is its path within the variable.
func (c *variableCheck) check(value any, typ *ast.Type, use use, path ast.Path) any {
	definition := c.schema.Types[typ.Name()]
	switch {
	case value == nil:
		if typ.NonNull {
			c.report("must not be null", use, path)
		}
		return nil
	case typ.Elem != nil:
		list, isList := value.([]any)
		if !isList { // a single value stands for a list of one
			list = []any{value}
		}
		coerced := make([]any, len(list))
		for i, element := range list {
			coerced[i] = c.check(element, typ.Elem, use.at(i), with(path, ast.PathIndex(i)))
		}
		return coerced
	case definition.Kind == ast.InputObject:
		object, isObject := value.(map[string]any)
		if !isObject {
			c.reportType(definition.Name, use, path)
			return nil
		}
		return c.checkObject(object, definition, use, path)
	}
	if text, isText := value.(string); isText && definition.Kind == ast.Enum {
		value = enumValue(text)
	}
	coerced, ok := leaf(value, definition)
	if !ok {
		c.reportType(definition.Name, use, path)
	} else if text, isText := coerced.(string); isText && c.uses != nil && fieldRules[use.name] != nil {
		c.add(blog.AtField(fieldRules[use.name](text), use.path...))
	}
	return coerced
}

func (c *variableCheck) checkObject(object map[string]any, definition *ast.Definition, use use, path ast.Path) map[string]any {
	for _, name := range c.unknownFields(object, definition) {
		c.report("has a field that its type does not define", use.atUnknown(name), path)
	}
	coerced := make(map[string]any, len(object))
	for _, field := range definition.Fields {
		value, isSet := object[field.Name]
		below := use.at(field.Name)
		below.name = definition.Name + "." + field.Name
		switch {
		case isSet:
			coerced[field.Name] = c.check(value, field.Type, below, with(path, ast.PathName(field.Name)))
		case field.Type.NonNull && field.DefaultValue == nil:
			c.report("is required", below, with(path, ast.PathName(field.Name)))
		}
	}
	return coerced
}

// unknownFields returns the names of an object that its type does not define, in order. In the
// first pass, it returns one of them.
func (c *variableCheck) unknownFields(object map[string]any, definition *ast.Definition) (unknown []string) {
	for name := range object {
		if definition.Fields.ForName(name) != nil {
			continue
		}
		if unknown = append(unknown, name); c.uses == nil {
			break
		}
	}
	slices.Sort(unknown)
	return unknown
}

func with(path ast.Path, step ast.PathElement) ast.Path { return append(slices.Clip(path), step) }

func (c *variableCheck) reportType(name string, use use, path ast.Path) {
	c.report("must be a value of type "+name, use, path)
}

// report adds an error. Its message contains names of the schema only.
func (c *variableCheck) report(problem string, use use, path ast.Path) {
	subject := "The variable "
	if len(path) > 0 {
		subject = "`" + strings.TrimPrefix(path.String(), ".") + "` of the variable "
	}
	c.add(blog.AtField(blog.Errorf(blog.BadUserInput, "%s%s.", subject, problem), use.path...))
}

func (c *variableCheck) add(err error) {
	if err == nil || len(c.errs) >= c.limit {
		return
	}
	located := &gqlerror.Error{Err: err, Message: err.Error()}
	if at := c.current.Position; at != nil {
		located.Locations = []gqlerror.Location{{Line: at.Line, Column: at.Column}}
	}
	c.errs = append(c.errs, located)
}

// fieldRules are the rules of arguments and input fields, by their names in the schema.
var fieldRules = func() map[string]func(string) error {
	rules := blog.FieldRules()
	rules["Query.userByUsername.username"] = blog.CheckUsername
	rules["Query.user.id"] = blog.IDOf(blog.TypeUser)
	rules["Query.post.id"] = blog.IDOf(blog.TypePost)
	rules["Query.node.id"] = checkID
	rules["Query.tag.name"] = blog.CheckTag
	rules["Query.archive.month"] = blog.CheckMonth
	rules["Query.archiveMonths.before"] = blog.CheckMonth
	return rules
}()

func checkID(text string) error {
	_, err := blog.ParseRef(text)
	return err
}
