package resolvers

import (
	"context"
	"strconv"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"cosmosblog/internal/blog"
	"cosmosblog/internal/limits"
)

// MutateOperationContext counts what an operation costs before it runs. Errors: COST_LIMIT_EXCEEDED, and BAD_USER_INPUT
// where it says in no way what is to be run; then nothing of it runs.
func (r *Resolver) MutateOperationContext(_ context.Context, operation *graphql.OperationContext) *gqlerror.Error {
	if err := checkConditions(operation); err != nil {
		return err
	}
	p := priceOf(r.prices, operation, r.limits.Spread)
	operation.Stats.SetExtension(estimateExtension, p.ru)
	err := p.check(r.limits)
	if err == nil {
		return nil
	}
	refused := &gqlerror.Error{Err: err, Message: err.Error()}
	if p.dearest.field != nil {
		refused.Locations = placeOf(p.dearest.field.Position)
	}
	return refused
}

// checkConditions makes sure that @skip and @include have their conditions, which gqlgen would panic without: the rules of
// GraphQL let a variable with a default pass that is then given as null. No other argument of the schema is a Boolean.
func checkConditions(operation *graphql.OperationContext) *gqlerror.Error {
	for _, definition := range operation.Operation.VariableDefinitions {
		value, given := operation.Variables[definition.Variable]
		if given && value == nil && definition.Type.NamedType == "Boolean" {
			err := blog.Errorf(blog.BadUserInput, "What @skip or @include depends on must not be null.")
			return &gqlerror.Error{Err: err, Message: err.Message, Locations: placeOf(definition.Position)}
		}
	}
	return nil
}

const estimateExtension = "Estimate"

// estimateOf gives the price of the context's operation; 0 where it was refused before it was counted.
func estimateOf(ctx context.Context) float64 {
	estimate, _ := graphql.GetOperationContext(ctx).Stats.GetExtension(estimateExtension).(float64)
	return estimate
}

// check holds a price to the limits. Error: COST_LIMIT_EXCEEDED, which does not depend on what the lists hold.
func (p price) check(l limits.Limits) error {
	switch {
	case p.fields > l.Spread:
		return blog.Errorf(blog.CostLimitExceeded,
			"The operation has more than %d fields, those of a fragment counted wherever it is spread. Ask for less at a time.", l.Spread)
	case l.Cost > 0 && p.ru > float64(l.Cost):
		return &tooDear{price: p, limit: l.Cost}
	case p.elements > float64(l.Elements):
		return blog.Errorf(blog.CostLimitExceeded,
			"The operation asks for more than %d elements of lists: `first` counts again for every list within a list. Ask for less at a time.", l.Elements)
	}
	return nil
}

// placeOf gives a place in the text of a query as an error tells it.
func placeOf(position *ast.Position) []gqlerror.Location {
	return []gqlerror.Location{{Line: position.Line, Column: position.Column}}
}

// tooDear is the refusal of an operation for its price.
type tooDear struct {
	price
	limit int
}

func (e *tooDear) Error() string { return e.Unwrap().Error() }

// Unwrap gives what a client is told.
func (e *tooDear) Unwrap() error {
	return blog.Errorf(blog.CostLimitExceeded,
		"The operation may cost %s RU, and the limit is %d RU. Its dearest field is `%s`, with %s RU: ask for less at a time, with a smaller `first` where there are lists.",
		inRU(e.ru), e.limit, e.dearest.name, inRU(e.dearest.ru))
}

// describe puts into an error what a program reads of it.
func (e *tooDear) describe(shown *gqlerror.Error) {
	shown.Extensions["price"], shown.Extensions["limit"], shown.Extensions["field"] = e.ru, e.limit, e.dearest.name
}

func inRU(charge float64) string { return strconv.FormatFloat(min(charge, priceCeiling), 'f', 2, 64) }
