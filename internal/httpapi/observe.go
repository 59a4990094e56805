package httpapi

import (
	"context"
	"fmt"
	"net/http"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"cosmosblog/internal/telemetry"
)

// observed has every request to /graphql told of, however it is answered.
func (a *api) observed(next http.Handler) http.Handler {
	exchanges := a.Traffic.Exchanges(next, clientAddress)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == graphQLPath {
			exchanges.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func clientAddress(r *http.Request) string {
	if address := ClientAddr(r.Context()); address.IsValid() {
		return address.String()
	}
	return ""
}

// present presents an error, and has it told that the answer has it.
func (a *api) present(ctx context.Context, err error) *gqlerror.Error {
	shown := a.Errors.Present(ctx, err)
	if shown != nil {
		id, _ := shown.Extensions["errorId"].(string)
		telemetry.ExchangeOf(ctx).Fail(fmt.Sprint(shown.Extensions["code"]), id)
	}
	return shown
}

// operations is the extension of the GraphQL server that tells which operation an exchange is for.
type operations struct{}

// ExtensionName names the extension, as gqlgen asks for.
func (operations) ExtensionName() string { return "Operations" }

// Validate takes any schema.
func (operations) Validate(graphql.ExecutableSchema) error { return nil }

// InterceptResponse has what an answer takes told of as its operation. Where none was found in the request, there is none.
func (operations) InterceptResponse(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
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
} = operations{}
