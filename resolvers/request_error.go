package resolvers

import (
	"errors"
	"regexp"

	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"cosmosblog/blog"
)

// requestError returns the error of gqlgen or gqlparser about an invalid request, or nil if err
// is something else. Errors before the execution have a code of package errcode. Errors during
// the execution wrap a cause, unless gqlgen itself rejects a value of the request.
func requestError(err error) *gqlerror.Error {
	invalid, ok := errors.AsType[*gqlerror.Error](err)
	if !ok {
		return nil
	}
	if invalid.Extensions["code"] == errcode.ValidationFailed || invalid.Err == nil {
		return invalid
	}
	return nil
}

// describeRequestError returns the error that clients see instead of an error of gqlgen or
// gqlparser. Their messages repeat names and values of the request. Ours contain names of the
// schema only.
func describeRequestError(err *gqlerror.Error) *blog.Error {
	code := blog.BadUserInput
	if err.Extensions["code"] == errcode.ValidationFailed {
		code = blog.GraphQLValidationFailed
	}
	if err.Rule == "NoIntrospection" || err.Rule == "SingleFieldSubscriptions" { // rules of api/documents
		return blog.Errorf(code, "%s", err.Message)
	}
	for _, rule := range messageRules {
		if match := rule.pattern.FindStringSubmatchIndex(err.Message); match != nil {
			message := string(rule.pattern.ExpandString(nil, rule.message, err.Message, match))
			if rule.keepSuggestion {
				message += suggestion.FindString(err.Message)
			}
			if rule.code != "" {
				code = rule.code
			}
			return blog.Errorf(code, "%s", message)
		}
	}
	return blog.Errorf(code, "The request does not match the schema.")
}

// suggestion matches the names of the schema that gqlparser suggests in development.
var suggestion = regexp.MustCompile(` Did you mean [\w ",.{}]+\?$`)

// messageRule replaces a message of gqlparser. Its pattern captures names of the schema. It is
// anchored and skips nothing but names, because values of the request may contain any text.
type messageRule struct {
	pattern        *regexp.Regexp
	message        string
	keepSuggestion bool
	code           blog.Code // if it has one of its own
}

func replace(pattern, message string) messageRule {
	return messageRule{pattern: regexp.MustCompile(`^` + pattern), message: message}
}

func replaceAndSuggest(pattern, message string) messageRule {
	rule := replace(pattern, message)
	rule.keepSuggestion = true
	return rule
}

func replaceWithCode(code blog.Code, pattern, message string) messageRule {
	rule := replace(pattern, message)
	rule.code = code
	return rule
}

var messageRules = []messageRule{
	// Which operation to execute.
	replaceWithCode(blog.BadUserInput, `operation  not found`, "The query has several operations. Name the one to execute in `operationName`."),
	replaceWithCode(blog.BadUserInput, `operation `, "The query has no operation with the name in `operationName`."),

	// Fields, arguments, types and values.
	replaceAndSuggest(`Cannot query field "\w+" on type "(\w+)"`, "The type $1 has no such field."),
	replaceAndSuggest(`Unknown argument "\w+" on field "(\w+\.\w+)"`, "$1 has no such argument."),
	replaceAndSuggest(`Unknown argument "\w+" on directive "(@\w+)"`, "$1 has no such argument."),
	replaceAndSuggest(`Unknown type`, "The schema has no such type."),
	replaceAndSuggest(`Field "\w+" of type "([\w!\[\]]+)" must have a selection`, "A field of type $1 needs a selection of subfields."),
	replace(`Field "\w+" must not have a selection since type "([\w!\[\]]+)"`, "The type $1 has no subfields. Remove the selection."),
	replaceAndSuggest(`Field "\w+" is not defined by type "(\w+)"`, "The type $1 has no such field."),
	replace(`Field "(\w+\.\w+)" of required type "([\w!\[\]]+)" was not provided`, "$1 of type $2 is required."),
	replace(`Field "\w+" argument "(\w+)" of type "([\w!\[\]]+)" is required`, "The argument $1 of type $2 is required."),
	replace(`Directive "(@\w+)" argument "(\w+)" of type "([\w!\[\]]+)" is required`, "The argument $2 of $1 is required."),
	replace(`Directive "@`, "This directive is not allowed here."),
	replace(`Unknown directive`, "The schema has no such directive."),
	replace(`The directive "@\w+" can only be used once`, "This directive may be used only once here."),
	replace(`Expected value of type "([\w!\[\]]+)"`, "Expected a value of type $1."),

	// Fragments, variables and operations.
	replace(`Unknown fragment`, "The query has no such fragment."),
	replace(`Fragment "\w+" is never used`, "A fragment is never used. Spread it or remove it."),
	replace(`Cannot spread fragment`, "A fragment must not spread itself, directly or through other fragments."),
	replace(`Fragment ("\w+" )?cannot be spread here`, "This fragment can never apply, because no object has both types."),
	replace(`Fragment `, "The type of a fragment must be an object, an interface or a union."),
	replace(`Variable "\$?\w+" is not defined`, "The operation does not define this variable."),
	replace(`Variable "\$?\w+" is never used`, "A variable is never used. Use it or remove it."),
	replace(`Variable "\$?\w+" of type "[\w!\[\]]+" used in position expecting type "([\w!\[\]]+)"`, "The variable has the wrong type. Expected $1 here."),
	replace(`Variable "`, "The type of a variable must be an input type."),
	replace(`Fields "`, "Two different fields have the same name in the response. Give one of them an alias."),
	replace(`There can be only one (argument|fragment|input field|operation|variable) named`, "Each $1 must have a unique name."),
	replace(`This anonymous operation`, "An operation without a name must be the only one in the query."),
	replace(`Schema does not support operation type`, "The schema has no operations of this kind."),
	replaceWithCode(blog.LimitExceeded, `Maximum introspection depth`, "The introspection query is nested too deeply."),
}
