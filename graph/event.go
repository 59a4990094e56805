package graph

import (
	"bytes"
	"context"

	"github.com/99designs/gqlgen/graphql"
)

// ExecuteEvent executes the operation of ctx, a valid subscription, for an event. It returns the
// data: its one field has the event's value, and its resolver is not called. ctx must also have
// gqlgen's context of a response, which gets the errors.
func ExecuteEvent(ctx context.Context, schema graphql.ExecutableSchema, value any) []byte {
	operation := graphql.GetOperationContext(ctx)
	ec := newExecutionContext(operation, schema.(*executableSchema), nil)
	fields := graphql.CollectFields(operation, operation.Operation.SelectionSet, subscriptionImplementors)
	ctx = graphql.WithFieldContext(ctx, &graphql.FieldContext{Object: "Subscription", Field: fields[0]})
	out := graphql.NewFieldSet(fields)
	out.Values[0] = ec.eventValue(ctx, fields[0], value)
	var data bytes.Buffer
	out.MarshalGQL(&data)
	return data.Bytes()
}
