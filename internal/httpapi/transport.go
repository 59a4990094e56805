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
		t.reject(w, r, errCrossSite)
		return
	}
	body := t.meterBody(r)
	defer body.release()
	params, rejected := t.readParams(w, r)
	if rejected != nil {
		t.reject(w, r, rejected)
		return
	}
	// An operation takes a slot, and its time starts, only after the body has arrived. A client
	// that sends slowly therefore holds no slot. A client that reads slowly keeps its slot, because
	// its response is in memory.
	select {
	case t.slots <- struct{}{}:
		defer func() { <-t.slots }()
	default:
		t.reject(w, r, errOverloaded)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), t.Limits.Time)
	defer cancel()
	t.execute(w, r.WithContext(ctx), exec, params)
}

// execute executes the operation of a request and responds.
func (t transport) execute(w http.ResponseWriter, r *http.Request, exec graphql.GraphExecutor, params *graphql.RawParams) {
	ctx, contentType := r.Context(), negotiateType(r)
	operation, errs := t.createOperation(ctx, exec, params)
	if len(errs) > 0 {
		rejected := exec.DispatchError(graphql.WithOperationContext(ctx, operation), errs)
		t.respond(w, contentType, documentStatus(contentType), rejectedResponse(rejected))
		return
	}
	if r.Method == http.MethodGet && operation.Operation.Operation != ast.Query {
		t.reject(w, r, errNotAQuery)
		return
	}
	next, ctx := exec.DispatchOperation(ctx, operation)
	executed := next(ctx)
	if executed == nil { // gqlgen returns nil if the context ended before the execution began
		t.reject(w, r, errExpired)
		return
	}
	if len(executed.Data) > t.Limits.AnswerBytes {
		t.dropData(r, operation, executed)
	}
	t.respond(w, contentType, executedStatus, executedResponse(executed))
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
