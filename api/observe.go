package api

import (
	"context"
	"fmt"
	"net/http"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"cosmosblog/guard/request"
	"cosmosblog/internal/telemetry"
)

// withTelemetry records every request to /graphql, including rejected ones.
func (a *api) withTelemetry(next http.Handler) http.Handler {
	exchanges := a.Traffic.Exchanges(next, clientAddress)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isGraphQL(r) {
			exchanges.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func clientAddress(r *http.Request) string {
	if address := request.Of(r.Context()).Address; address.IsValid() {
		return address.String()
	}
	return ""
}

// present converts an error to its GraphQL form, and records its code and error id.
func (a *api) present(ctx context.Context, err error) *gqlerror.Error {
	shown := a.Errors.Present(ctx, err)
	if shown != nil {
		id, _ := shown.Extensions["errorId"].(string)
		telemetry.ExchangeOf(ctx).Fail(fmt.Sprint(shown.Extensions["code"]), id)
	}
	return shown
}

// operationTelemetry is a gqlgen extension that records the name and type of each operation.
type operationTelemetry struct{}

// ExtensionName returns the name that gqlgen requires.
func (operationTelemetry) ExtensionName() string { return "Operations" }

// Validate accepts any schema.
func (operationTelemetry) Validate(graphql.ExecutableSchema) error { return nil }

// InterceptResponse records the operation while its response is computed. A request without a valid
// operation records none.
func (operationTelemetry) InterceptResponse(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
	operation := graphql.GetOperationContext(ctx).Operation
	if operation == nil {
		return next(ctx)
	}
	ctx, done := telemetry.ExchangeOf(ctx).Operate(ctx, operation.Name, string(operation.Operation))
	defer done()
	return next(ctx)
}

var _ interface {
	graphql.HandlerExtension
	graphql.ResponseInterceptor
} = operationTelemetry{}
