package api

import (
	"context"
	"fmt"
	"net/http"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"cosmosblog/guard/request"
	"cosmosblog/internal/telemetry"
)

// clientAddress returns the address of a request's client as text; "" if it is unknown.
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
