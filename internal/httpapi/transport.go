package httpapi

import (
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

// Do answers a request.
func (t transport) Do(w http.ResponseWriter, r *http.Request, exec graphql.GraphExecutor) {
	if r.Method == http.MethodGet && isForeign(r) {
		t.refuse(w, r, errForeign)
		return
	}
	params, unread := readParams(w, r)
	if unread != nil {
		t.refuse(w, r, unread)
		return
	}
	ctx, contentType := r.Context(), answerType(r)
	operation, faults := exec.CreateOperationContext(ctx, params)
	if len(faults) > 0 {
		response := exec.DispatchError(graphql.WithOperationContext(ctx, operation), faults)
		writeAnswer(w, contentType, refusalStatus(contentType), refused(response))
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
	if len(response.Data) > maxAnswerBytes {
		t.withhold(r, operation, response)
	}
	writeAnswer(w, contentType, http.StatusOK, executed(response))
}

// withhold takes the data out of an answer that is too large. What a mutation did is done all the same.
func (t transport) withhold(r *http.Request, operation *graphql.OperationContext, response *graphql.Response) {
	err := errAnswerTooLarge
	if operation.Operation.Operation == ast.Mutation {
		err = errMutationAnswerTooLarge
	}
	response.Data = nil
	response.Errors = append(gqlerror.List{t.Resolvers.PresentError(r.Context(), err)}, response.Errors...)
}

var (
	errNotAQuery = &refusal{http.StatusMethodNotAllowed, "POST", blog.Errorf(blog.BadUserInput, "GET is for queries: send a mutation with POST.")}
	errOver      = &refusal{status: http.StatusServiceUnavailable, err: blog.Errorf(blog.Internal, "The request's time was over before it began.")}
)
