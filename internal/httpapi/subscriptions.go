package httpapi

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"net/netip"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"cosmosblog/internal/subscription"
)

// isSubscription reports whether the operation of a request is a valid subscription.
func (t transport) isSubscription(params *graphql.RawParams) bool {
	if !strings.Contains(params.Query, "subscription") { // as in nearly all requests
		return false
	}
	known, errs := t.documents.Read(params.Query, params.OperationName)
	return len(errs) == 0 && known.Operation != nil && known.Operation.Operation == ast.Subscription
}

// newSubscriptions returns the server of subscriptions.
func (t transport) newSubscriptions() *subscription.Server {
	return subscription.New(subscription.Options{
		API: operations{t}, Executor: t.exec, Books: t.Books, Answers: t.answers, Limits: t.Limits, Now: t.Now,
		Count: t.Traffic.Subscribed,
	})
}

// operations is what package subscription needs of the API (subscription.API).
type operations struct{ transport }

// CreateOperation implements subscription.API. The key is empty if the client asks for diagnostics,
// which describe one execution.
func (o operations) CreateOperation(ctx context.Context, params *graphql.RawParams) (*graphql.OperationContext, string, gqlerror.List) {
	known, operation, errs := o.createOperation(ctx, params)
	if len(errs) > 0 || params.Headers.Get(diagnosticsHeader) != "" {
		return operation, "", errs
	}
	viewer := ""
	if known.AsksOfViewer {
		viewer = userIDOf(ctx)
	}
	text, err := json.Marshal([]any{params.Query, params.OperationName, withoutPosition(params.Query, operation), viewer})
	if err != nil {
		return operation, "", nil
	}
	hash := sha256.Sum256(text)
	return operation, string(hash[:]), nil
}

// withoutPosition returns the variables of a subscription, except the one that is only the value of
// the argument `after`: two subscriptions at one event are equal, wherever they began.
func withoutPosition(query string, operation *graphql.OperationContext) map[string]any {
	if len(operation.Operation.SelectionSet) != 1 {
		return operation.Variables
	}
	root, ok := operation.Operation.SelectionSet[0].(*ast.Field)
	if !ok {
		return operation.Variables
	}
	after := root.Arguments.ForName("after")
	if after == nil || after.Value.Kind != ast.Variable || strings.Count(query, "$"+after.Value.Raw) != 2 { // declared, and used once
		return operation.Variables
	}
	others := maps.Clone(operation.Variables)
	delete(others, after.Value.Raw)
	return others
}

// Encode implements subscription.API.
func (o operations) Encode(ctx context.Context, operation *graphql.OperationContext, r *graphql.Response) []byte {
	if operation == nil {
		return o.encode(jsonType, executedStatus, rejectedResponse(r)).body
	}
	if len(r.Data) > o.Limits.AnswerBytes {
		o.dropData(ctx, operation, r)
	}
	return o.encode(jsonType, executedStatus, executedResponse(r)).body
}

// Present implements subscription.API.
func (o operations) Present(ctx context.Context, err error) *gqlerror.Error {
	return o.present(ctx, err)
}

// TakePlace implements subscription.API.
func (o operations) TakePlace() (leave func(), ok bool) {
	p := &place{places: o.places}
	return p.leave, p.take()
}

// Client implements subscription.API.
func (o operations) Client(ctx context.Context) (account string, address netip.Addr) {
	return userIDOf(ctx), ClientAddr(ctx)
}
