package api

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"cosmosblog/api/coercion"
	"cosmosblog/api/documents"
	"cosmosblog/api/subscription"
	"cosmosblog/graph"
	"cosmosblog/graph/stream"
	"cosmosblog/guard/request"
)

// newSubscriptions returns the server of subscriptions.
func (t transport) newSubscriptions() *subscription.Server {
	return subscription.New(subscription.Options{
		API: operations{t}, Books: t.Books, Processor: t.Processor, Answers: t.answers, Limits: t.Limits, Now: t.Now,
		Count: t.Traffic.Subscribed, Worked: t.Traffic.Worked,
	})
}

// operations is what package subscription needs of the API (subscription.API).
type operations struct{ transport }

// CreateOperation implements subscription.API. The key is empty if the client asks for diagnostics,
// which describe one execution.
func (o operations) CreateOperation(ctx context.Context, params *graphql.RawParams) (*subscription.Operation, time.Duration, gqlerror.List) {
	refuse := func(rejected *graphql.OperationContext, errs gqlerror.List) (*subscription.Operation, time.Duration, gqlerror.List) {
		return nil, o.documents.RefusedWork(params.Query), o.exec.DispatchError(graphql.WithOperationContext(ctx, rejected), errs).Errors
	}
	known, errs := o.documents.Read(params.Query, params.OperationName)
	if len(errs) > 0 {
		return refuse(o.rejectedOperation(params), errs)
	}
	work := known.Charge()
	o.persisted.keep(ctx, params)
	known, release := o.documents.Hold(known)
	kept := &graphql.RawParams{Query: known.Query(), OperationName: known.OperationName(), Headers: params.Headers}
	var variableBytes int
	if known.Operation != nil {
		kept.Variables, variableBytes = coercion.Keep(known.Operation, params.Variables)
	}
	operation, errs := o.createOperation(ctx, kept, known)
	if len(errs) > 0 {
		release()
		return refuse(operation, errs)
	}
	return &subscription.Operation{
		Context: operation, Key: answerKey(ctx, known, operation), Document: known, DocumentBytes: known.Bytes, VariableBytes: variableBytes,
		RequestBytes: requestBytes(params), Release: release,
	}, work, nil
}

// requestBytes returns the memory that net/http keeps of a request as long as its stream: its
// headers, and its address, in which a GET has the query.
func requestBytes(params *graphql.RawParams) int {
	bytes := len(params.Query)
	for name, values := range params.Headers {
		for _, value := range values {
			bytes += len(name) + len(value)
		}
	}
	return bytes
}

// answerKey returns the key of the answers of an operation: a hash of everything in which the
// answers of two subscriptions to one event can differ.
func answerKey(ctx context.Context, known *documents.Document, operation *graphql.OperationContext) string {
	if operation.Headers.Get(diagnosticsHeader) != "" {
		return ""
	}
	viewer := ""
	if known.AsksOfViewer {
		viewer = request.Of(ctx).UserID()
	}
	text, err := json.Marshal([]any{operation.RawQuery, operation.OperationName, withoutPosition(operation), viewer})
	if err != nil {
		return ""
	}
	hash := sha256.Sum256(text)
	return string(hash[:])
}

// withoutPosition returns the variables of a subscription, except the one that is only the value of
// the argument `after`: two subscriptions at one event are equal, wherever they began.
func withoutPosition(operation *graphql.OperationContext) map[string]any {
	if len(operation.Operation.SelectionSet) != 1 {
		return operation.Variables
	}
	root, ok := operation.Operation.SelectionSet[0].(*ast.Field)
	if !ok {
		return operation.Variables
	}
	after := root.Arguments.ForName("after")
	if after == nil || after.Value.Kind != ast.Variable || coercion.CountUses(operation.Doc, operation.Operation, after.Value.Raw) != 1 {
		return operation.Variables
	}
	others := maps.Clone(operation.Variables)
	delete(others, after.Value.Raw)
	return others
}

// Open implements subscription.API.
func (o operations) Open(ctx context.Context, operation *graphql.OperationContext) (stream.Stream, gqlerror.List) {
	ctx, opened := stream.Opening(ctx)
	responses, ctx := o.exec.DispatchOperation(ctx, operation)
	if *opened == nil {
		return nil, responses(ctx).Errors
	}
	return *opened, nil
}

// Execute implements subscription.API. gqlgen's extensions are around an event as around a query.
func (o operations) Execute(ctx context.Context, operation *graphql.OperationContext, value any) *graphql.Response {
	ctx = graphql.WithResponseContext(graphql.WithOperationContext(ctx, operation), o.present, o.Errors.Recover)
	return execution{}.InterceptResponse(ctx, func(ctx context.Context) *graphql.Response {
		return o.Scope.InterceptResponse(ctx, func(ctx context.Context) *graphql.Response {
			data := graph.ExecuteEvent(ctx, o.schema, value)
			return &graphql.Response{Data: data, Errors: graphql.GetErrors(ctx), Extensions: graphql.GetExtensions(ctx)}
		})
	})
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
