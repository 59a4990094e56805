package price

import (
	"strconv"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"cosmosblog/blog"
	"cosmosblog/guard/limits"
)

// Checker rejects operations whose price exceeds the limits, before any part of them runs. It may
// be used concurrently.
type Checker struct {
	list   List
	limits limits.Limits
}

// NewChecker returns a Checker for the operations of a schema. Of the limits, it uses Cost (0
// allows any price), Elements and Spread.
func NewChecker(schema *ast.Schema, l limits.Limits) *Checker {
	return &Checker{list: NewList(schema), limits: l}
}

// Constant returns the price of an operation of a valid document, if every value of its variables
// gives the same, and nil otherwise.
func (c *Checker) Constant(document *ast.QueryDocument, operation *ast.OperationDefinition) *Price {
	if HasConditions(operation) {
		return nil
	}
	p, isConstant := c.list.Price(&graphql.OperationContext{Doc: document, Operation: operation}, c.limits.Spread)
	if !isConstant {
		return nil
	}
	return &p
}

// Check computes the operation's price, stores it for Of, and compares it with the limits. constant
// is the operation's Constant. The error wraps a *blog.Error: COST_LIMIT_EXCEEDED for the price,
// LIMIT_EXCEEDED for the numbers of fields and elements, or BAD_USER_INPUT if a condition of @skip
// or @include is null.
func (c *Checker) Check(operation *graphql.OperationContext, constant *Price) *gqlerror.Error {
	if err := checkConditions(operation); err != nil {
		return err
	}
	var p Price
	if constant != nil {
		p = *constant
	} else {
		p, _ = c.list.Price(operation, c.limits.Spread)
	}
	operation.Stats.SetExtension(priceExtension, p)
	err := p.check(c.limits)
	if err == nil {
		return nil
	}
	rejection := &gqlerror.Error{Err: err, Message: err.Error()}
	if field := p.MostExpensive.Field; field != nil {
		rejection.Locations = locations(field.Position)
	}
	return rejection
}

// checkConditions rejects a null variable of type Boolean, on which gqlgen's @skip and @include
// would panic. GraphQL's validation does not reject it if the variable has a default value. No
// other argument in the schema is a Boolean.
func checkConditions(operation *graphql.OperationContext) *gqlerror.Error {
	for _, definition := range operation.Operation.VariableDefinitions {
		value, isSet := operation.Variables[definition.Variable]
		if isSet && value == nil && definition.Type.NamedType == "Boolean" {
			err := blog.Errorf(blog.BadUserInput, "The condition of `@skip` or `@include` must not be null: set the variable to true or false.")
			return &gqlerror.Error{Err: err, Message: err.Message, Locations: locations(definition.Position)}
		}
	}
	return nil
}

const priceExtension = "Price"

// Of returns the price of an operation. It is zero if the operation was rejected before its price
// was known.
func Of(operation *graphql.OperationContext) Price {
	p, _ := operation.Stats.GetExtension(priceExtension).(Price)
	return p
}

// check compares a price with the limits. Errors: COST_LIMIT_EXCEEDED, LIMIT_EXCEEDED.
func (p Price) check(l limits.Limits) error {
	switch {
	case p.Fields > l.Spread:
		return blog.Errorf(blog.LimitExceeded,
			"This operation has more than %d fields, counting the fields of a fragment each time it is spread. Request fewer fields.", l.Spread)
	case l.Cost > 0 && p.RU > float64(l.Cost):
		return &LimitError{Price: p, Limit: l.Cost}
	case p.Elements > float64(l.Elements):
		return blog.Errorf(blog.LimitExceeded,
			"This operation requests more than %d elements of lists. Nested lists multiply: use a smaller `first`, or fewer lists within lists.", l.Elements)
	}
	return nil
}

func locations(position *ast.Position) []gqlerror.Location {
	return []gqlerror.Location{{Line: position.Line, Column: position.Column}}
}

// LimitError reports an operation whose price in RU exceeds the limit. It wraps a *blog.Error
// with the code COST_LIMIT_EXCEEDED.
type LimitError struct {
	Price
	Limit int // in RU
}

func (e *LimitError) Error() string { return e.Unwrap().Error() }

// Unwrap returns the error that clients see.
func (e *LimitError) Unwrap() error {
	return blog.Errorf(blog.CostLimitExceeded,
		"This operation may cost %s RU, and the limit is %d RU. Its most expensive field is `%s` with %s RU. Request less at a time, for example with a smaller `first`.",
		formatRU(e.RU), e.Limit, e.MostExpensive.Name, formatRU(e.MostExpensive.RU))
}

// Extensions returns the details that programs read from the error's extensions.
func (e *LimitError) Extensions() map[string]any {
	return map[string]any{"price": e.RU, "limit": e.Limit, "field": e.MostExpensive.Name}
}

func formatRU(charge float64) string { return strconv.FormatFloat(charge, 'f', 2, 64) }
