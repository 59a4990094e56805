package httpapi

import (
	"context"
	"net/http"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"cosmosblog/internal/blog"
)

// transport implements GraphQL over HTTP: POST for all operations, and GET for queries.
//
// It replaces gqlgen's transports, which have three faults. Their errors repeat an unreadable
// body. They respond in plain text to other media types and methods. They add `"data": null` to
// the errors of a request that was not executed.
type transport struct{ *api }

var _ graphql.Transport = transport{}

// Supports accepts every request. Do rejects those that are not GraphQL over HTTP.
func (transport) Supports(*http.Request) bool { return true }

// Do responds to a request. It recovers panics itself, because gqlgen's response to them has
// another form.
func (t transport) Do(w http.ResponseWriter, r *http.Request, exec graphql.GraphExecutor) {
	defer t.recoverPanic(w, r)
	if r.Method == http.MethodGet && t.isCrossSite(r) {
		t.logRefusedOrigin(r)
		t.reject(w, r, errCrossSite)
		return
	}
	body := t.meterBody(w, r)
	defer body.close()
	params, rejected := t.readParams(w, r)
	var executed answer
	if rejected == nil && !body.arrived() {
		rejected = errBodyTimeout
	}
	if rejected == nil {
		executed, rejected = t.run(r, exec, params)
	}
	if rejected != nil {
		t.reject(w, r, rejected)
		return
	}
	body.close()
	t.send(w, r, executed)
}

// run takes a slot and executes the operation of a request.
//
// The operation has its slot, and its time, from the arrival of the body until the answer is
// complete. A client that sends or reads slowly holds no slot.
func (t transport) run(r *http.Request, exec graphql.GraphExecutor, params *graphql.RawParams) (answer, *rejection) {
	select {
	case t.slots <- struct{}{}:
		defer func() { <-t.slots }()
	default:
		return answer{}, errOverloaded
	}
	ctx, cancel := context.WithTimeout(r.Context(), t.Limits.Time)
	defer cancel()
	return t.execute(r.WithContext(ctx), exec, params)
}

// execute executes the operation of a request.
func (t transport) execute(r *http.Request, exec graphql.GraphExecutor, params *graphql.RawParams) (answer, *rejection) {
	ctx, contentType := r.Context(), negotiateType(r)
	operation, errs := t.createOperation(ctx, exec, params)
	if len(errs) > 0 {
		rejected := exec.DispatchError(graphql.WithOperationContext(ctx, operation), errs)
		return t.encode(contentType, documentStatus(contentType), rejectedResponse(rejected)), nil
	}
	if r.Method == http.MethodGet && operation.Operation.Operation != ast.Query {
		return answer{}, errNotAQuery
	}
	next, ctx := exec.DispatchOperation(ctx, operation)
	executed := next(ctx)
	if executed == nil { // gqlgen returns nil if the context ended before the execution began
		return answer{}, errExpired
	}
	if len(executed.Data) > t.Limits.AnswerBytes {
		t.dropData(r, operation, executed)
	}
	complete := t.encode(contentType, executedStatus, executedResponse(executed))
	complete.isMutation = operation.Operation.Operation == ast.Mutation
	return complete, nil
}

// dropData removes the data from a response that is too large, and adds an error. The effects of a
// mutation remain.
func (t transport) dropData(r *http.Request, operation *graphql.OperationContext, executed *graphql.Response) {
	sentence := "The response is larger than %d bytes. Request less at a time."
	if operation.Operation.Operation == ast.Mutation {
		sentence = "The mutation succeeded, but its response is larger than %d bytes. Select fewer fields."
	}
	err := blog.Errorf(blog.LimitExceeded, sentence, t.Limits.AnswerBytes)
	executed.Data = nil
	executed.Errors = append(gqlerror.List{t.present(r.Context(), err)}, executed.Errors...)
}
