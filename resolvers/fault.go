package resolvers

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// requestFault gives the fault that gqlgen or gqlparser found in the request itself; nil where err is none. They mark
// what they find before anything runs; what comes up later holds a cause.
func requestFault(err error) *gqlerror.Error {
	fault, ok := errors.AsType[*gqlerror.Error](err)
	if !ok {
		return nil
	}
	switch fault.Extensions["code"] {
	case errcode.ValidationFailed, errcode.ParseFailed:
		return fault
	}
	if fault.Err == nil {
		return fault
	}
	return nil
}

// sentence says what a fault is. What gqlparser says repeats names and values of the request; nothing of them is told but
// the place. Names of the schema are.
func sentence(fault *gqlerror.Error) string {
	switch {
	case len(fault.Path) > 1 && fault.Path[0] == ast.PathName("variable"):
		return sentenceOfVariable(fault)
	case fault.Rule == "NoIntrospection": // of internal/httpapi
		return fault.Message
	}
	for _, w := range wordings {
		if match := w.pattern.FindStringSubmatchIndex(fault.Message); match != nil {
			text := string(w.pattern.ExpandString(nil, w.text, fault.Message, match))
			if w.suggests {
				text += suggestion.FindString(fault.Message)
			}
			return text
		}
	}
	if fault.Extensions["code"] == errcode.ParseFailed {
		return "The syntax of the query is wrong."
	}
	return "The request is not what the schema asks for."
}

// suggestion is what gqlparser adds in development: names of the schema alone.
var suggestion = regexp.MustCompile(` Did you mean [\w ",.{}]+\?$`)

// wording is our sentence for one of gqlparser's. A pattern takes names of the schema from it; since values of the
// request may hold anything, it is anchored and passes over nothing but names.
type wording struct {
	pattern  *regexp.Regexp
	text     string
	suggests bool
}

func says(pattern, text string) wording {
	return wording{pattern: regexp.MustCompile(`^` + pattern), text: text}
}

func suggests(pattern, text string) wording {
	w := says(pattern, text)
	w.suggests = true
	return w
}

var wordings = []wording{
	says(`exceeded token limit of (\d+)`, "The query has more than $1 tokens."),
	says(`exceeded maximum nesting depth`, "The query is nested too deeply."),
	says(`Expected (Name|"\w+"|[^\w\s"]+), found`, "The syntax of the query is wrong: expected $1."),
	says(`operation  not found`, "The query has several operations: name one of them in `operationName`."),
	says(`operation `, "The query has no operation of the name in `operationName`."),

	suggests(`Cannot query field "\w+" on type "(\w+)"`, "The type $1 has no such field."),
	suggests(`Unknown argument "\w+" on field "(\w+\.\w+)"`, "$1 has no such argument."),
	suggests(`Unknown argument "\w+" on directive "(@\w+)"`, "$1 has no such argument."),
	suggests(`Unknown type`, "There is no such type."),
	suggests(`Field "\w+" of type "([\w!\[\]]+)" must have a selection`, "A field of the type $1 needs a selection of subfields."),
	says(`Field "\w+" must not have a selection since type "([\w!\[\]]+)"`, "The type $1 has no subfields."),
	suggests(`Field "\w+" is not defined by type "(\w+)"`, "The type $1 has no such field."),
	says(`Field "(\w+\.\w+)" of required type "([\w!\[\]]+)" was not provided`, "$1 of the type $2 is required."),
	says(`Field "(\w+\.\w+)" must be non-null`, "$1 must not be null."),
	says(`Field "\w+" argument "(\w+)" of type "([\w!\[\]]+)" is required`, "The argument $1 of the type $2 is required."),
	says(`Directive "(@\w+)" argument "(\w+)" of type "([\w!\[\]]+)" is required`, "The argument $2 of $1 is required."),
	says(`Directive "@`, "The directive must not be used here."),
	says(`Unknown directive`, "There is no such directive."),
	says(`The directive "@\w+" can only be used once`, "The directive is used twice here."),
	says(`Expected value of type "([\w!\[\]]+)"`, "A value of the type $1 is expected."),
	says(`(Int|String|Boolean|Float|ID) cannot represent`, "A value of the type $1 is expected."),
	says(`(Enum|Value) "`, "That is no value of the enum."),

	says(`Unknown fragment`, "The query has no such fragment."),
	says(`Fragment "\w+" is never used`, "A fragment is never used."),
	says(`Cannot spread fragment`, "A fragment must not spread itself, directly or through others."),
	says(`Fragment ("\w+" )?cannot be spread here`, "The fragment can never apply here: no object is of both types."),
	says(`Fragment `, "A fragment is on an object, an interface or a union."),
	says(`Variable "\$?\w+" is not defined`, "A variable is used that the operation does not define."),
	says(`Variable "\$?\w+" is never used`, "A variable is never used."),
	says(`Variable "\$?\w+" of type "[\w!\[\]]+" used in position expecting type "([\w!\[\]]+)"`, "The variable's type does not fit: a $1 is expected here."),
	says(`Variable "`, "A variable's type must be an input type."),
	says(`Fields "`, "Two different fields have the same name in the answer: give one of them an alias."),
	says(`There can be only one (argument|fragment|input field|operation|variable) named`, "Two of one name: every $1 has a name of its own."),
	says(`This anonymous operation`, "An operation without a name must be the only one."),
	says(`Schema does not support operation type`, "The schema has no operations of that kind."),
	says(`Maximum introspection depth`, "The introspection is nested too deeply."),
}

// sentenceOfVariable says what is wrong with the value of a variable, and where in an input it is: there the names are
// the schema's, but for one that is unknown.
func sentenceOfVariable(fault *gqlerror.Error) string {
	text, where := "has a value of another type", fault.Path[2:]
	switch {
	case fault.Message == "must be defined":
		text = "must be given"
	case fault.Message == "cannot be null":
		text = "must not be null"
	case fault.Message == "unknown field":
		text, where = "has a field that its type does not have", where[:len(where)-1]
	default:
		if kind := expectedKind.FindStringSubmatch(fault.Message); kind != nil {
			text = "must be a value of the type " + kind[1]
		}
	}
	if len(where) == 0 {
		return "The variable " + text + "."
	}
	return "`" + strings.TrimPrefix(where.String(), ".") + "` of the variable " + text + "."
}

var expectedKind = regexp.MustCompile(`^(?:cannot use (?:value )?[\w.+-]+ as|must be a) (\w+)`)

// placeOfVariable gives the place where the operation defines the variable that a fault is in.
func placeOfVariable(ctx context.Context, fault *gqlerror.Error) []gqlerror.Location {
	if len(fault.Path) < 2 || fault.Path[0] != ast.PathName("variable") || !graphql.HasOperationContext(ctx) {
		return nil
	}
	operation := graphql.GetOperationContext(ctx).Operation
	name, _ := fault.Path[1].(ast.PathName)
	if operation == nil {
		return nil
	}
	definition := operation.VariableDefinitions.ForName(string(name))
	if definition == nil || definition.Position == nil {
		return nil
	}
	return []gqlerror.Location{{Line: definition.Position.Line, Column: definition.Position.Column}}
}
