package httpapi

import (
	"context"
	"net/http"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"cosmosblog/internal/blog"
)

// transport is GraphQL over HTTP: POST, and GET for queries. gqlgen's own transports repeat a body that they cannot read
// in the error, answer other media types and methods in plain text, and put `"data": null` beside the faults of a
// request.
type transport struct{ *api }

var _ graphql.Transport = transport{}

// Supports takes every request: what is not GraphQL over HTTP is refused in its own terms.
func (transport) Supports(*http.Request) bool { return true }

// Do answers a request. gqlgen's own answer to a panic is none of ours.
func (t transport) Do(w http.ResponseWriter, r *http.Request, exec graphql.GraphExecutor) {
	defer t.recoverInto(w, r)
	if r.Method == http.MethodGet && t.isForeign(r) {
		t.refuse(w, r, errForeign)
		return
	}
	body := t.hold(r)
	defer body.release()
	params, unread := t.readParams(w, r)
	if unread != nil {
		t.refuse(w, r, unread)
		return
	}
	// Only now: a client that sends slowly takes no place and no time of those who wait for an answer. One that reads slowly
	// keeps its place, because its answer is in memory.
	select {
	case t.places <- struct{}{}:
		defer func() { <-t.places }()
	default:
		t.refuse(w, r, errTooManyAtATime)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), t.Limits.Time)
	defer cancel()
	t.execute(w, r.WithContext(ctx), exec, params)
}

// execute carries out what a request asks for, and answers.
func (t transport) execute(w http.ResponseWriter, r *http.Request, exec graphql.GraphExecutor, params *graphql.RawParams) {
	ctx, contentType := r.Context(), answerType(r)
	operation, faults := t.createOperation(ctx, exec, params)
	if len(faults) > 0 {
		response := exec.DispatchError(graphql.WithOperationContext(ctx, operation), faults)
		t.answer(w, contentType, documentStatus(contentType), refused(response))
		return
	}
	if r.Method == http.MethodGet && operation.Operation.Operation != ast.Query {
		t.refuse(w, r, errNotAQuery)
		return
	}
	next, ctx := exec.DispatchOperation(ctx, operation)
	response := next(ctx)
	if response == nil { // gqlgen's word for a request that is over before it began
		t.refuse(w, r, errOver)
		return
	}
	if len(response.Data) > t.Limits.AnswerBytes {
		t.withhold(r, operation, response)
	}
	t.answer(w, contentType, executedStatus, executed(response))
}

// withhold takes the data out of an answer that is too large. What a mutation did is done all the same.
func (t transport) withhold(r *http.Request, operation *graphql.OperationContext, response *graphql.Response) {
	sentence := "The answer is larger than %d bytes: ask for less at a time."
	if operation.Operation.Operation == ast.Mutation {
		sentence = "The mutation was carried out, but its answer is larger than %d bytes: ask for less of what it gives back."
	}
	err := blog.Errorf(blog.CostLimitExceeded, sentence, t.Limits.AnswerBytes)
	response.Data = nil
	response.Errors = append(gqlerror.List{t.present(r.Context(), err)}, response.Errors...)
}
