package api

import (
	"net/http"
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"cosmosblog/guard/price"
)

// diagnosticsHeader is the header by which a client asks what an operation was charged, with the
// value 1, or for the price of an operation that is not executed, with priceOnly.
const (
	diagnosticsHeader = "X-Cosmos-Diagnostics"
	priceOnly         = "price"
)

// asksForPriceOnly reports whether the operation of a request must be priced and not executed.
func asksForPriceOnly(r *http.Request) bool {
	return strings.Join(r.Header[diagnosticsHeader], ",") == priceOnly
}

// checkDiagnostics returns a rejection if the server cannot do what the header says. It must not
// ignore the header and execute a mutation that its client wants to price. So it rejects unknown
// values too, which may be misspelt.
func (a *api) checkDiagnostics(r *http.Request) *rejection {
	values := r.Header[diagnosticsHeader]
	switch {
	case len(values) == 0 || len(values) == 1 && values[0] == "1":
		return nil
	case !asksForPriceOnly(r):
		return errBadDiagnostics
	case !a.Development:
		return errPriceForbidden
	case isWebSocket(r):
		return errPriceOfSocket
	}
	return nil
}

// pricedResponse is the response to a request for the price of an operation. Its data is null: by
// GraphQL over HTTP, an answer with status 200 has data.
func pricedResponse(operation *graphql.OperationContext) response {
	p := price.Of(operation)
	cosmos := map[string]any{"estimate": p.RU}
	if most := p.MostExpensive; most.RU > 0 {
		cosmos["mostExpensive"] = map[string]any{"field": most.Name, "estimate": most.RU}
	}
	return response{data: []byte("null"), extensions: map[string]any{"cosmos": cosmos}}
}
