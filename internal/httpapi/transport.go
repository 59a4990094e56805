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
type transport struct{}

var _ graphql.Transport = transport{}

// Supports takes every request: what is not GraphQL over HTTP is refused in its own terms.
func (transport) Supports(*http.Request) bool { return true }

// Do answers a request.
func (transport) Do(w http.ResponseWriter, r *http.Request, exec graphql.GraphExecutor) {
	ctx, contentType := r.Context(), answerType(r)
	params, unread := readParams(w, r)
	if unread != nil {
		refuse(w, r, exec, contentType, unread)
		return
	}
	operation, faults := exec.CreateOperationContext(ctx, params)
	if len(faults) > 0 {
		response := exec.DispatchError(graphql.WithOperationContext(ctx, operation), faults)
		writeAnswer(w, contentType, refusalStatus(contentType), refused(response))
		return
	}
	if r.Method == http.MethodGet && operation.Operation.Operation != ast.Query {
		refuse(w, r, exec, contentType, errNotAQuery)
		return
	}
	next, ctx := exec.DispatchOperation(ctx, operation)
	response := next(ctx)
	switch {
	case response == nil: // gqlgen's word for a request that is over before it began
		refuse(w, r, exec, contentType, errOver)
	case len(response.Data) > maxAnswerBytes:
		refuse(w, r, exec, contentType, &refusal{status: refusalStatus(contentType), err: errAnswerTooLarge})
	default:
		writeAnswer(w, contentType, http.StatusOK, executed(response))
	}
}

var (
	errNotAQuery = &refusal{http.StatusMethodNotAllowed, "POST", blog.Errorf(blog.BadUserInput, "GET is for queries: send a mutation with POST.")}
	errOver      = &refusal{status: http.StatusServiceUnavailable, err: blog.Errorf(blog.Internal, "The request's time was over before it began.")}
)

// refuse answers a request without executing it.
func refuse(w http.ResponseWriter, r *http.Request, exec graphql.GraphExecutor, contentType string, why *refusal) {
	if why.allow != "" {
		w.Header().Set("Allow", why.allow)
	}
	response := exec.DispatchError(r.Context(), gqlerror.List{gqlerror.Wrap(why.err)})
	writeAnswer(w, contentType, why.status, refused(response))
}
