package api

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"cosmosblog/guard/budget"
	"cosmosblog/guard/price"
	"cosmosblog/guard/request"
)

// beginPayment deducts the price of an operation from the budgets of its client. If one of them is
// used up, it returns a rejection.
func (t transport) beginPayment(ctx context.Context, r *http.Request, operation *graphql.OperationContext) (*budget.Payment, *rejection) {
	t.warnOfUnknownProxy(r)
	writes, q := operation.Operation.Operation == ast.Mutation, request.Of(ctx)
	payment, err := t.Books.Begin(q.UserID(), q.Address, writes, price.Of(operation).RU)
	if err != nil {
		return nil, &rejection{status: http.StatusTooManyRequests, err: err, payment: payment}
	}
	return payment, nil
}

// setRateLimit sets the headers that tell a client the state of its budgets, in RU and seconds, as
// draft-ietf-httpapi-ratelimit-headers-11 describes. Without a budget, there are none.
func setRateLimit(header http.Header, p *budget.Payment) {
	if p == nil {
		return
	}
	var policies, limits []string
	for _, s := range p.States() {
		policies = append(policies, fmt.Sprintf(`"%v";q=%.0f;w=%.0f`, s.Kind, s.Size, budget.Burst.Seconds()))
		limits = append(limits, fmt.Sprintf(`"%v";r=%.0f;t=%.0f`, s.Kind, math.Floor(max(s.Left, 0)), math.Ceil(s.Full.Seconds())))
	}
	if len(policies) > 0 {
		header.Set("RateLimit-Policy", strings.Join(policies, ", "))
		header.Set("RateLimit", strings.Join(limits, ", "))
	}
}
