package api

import (
	"context"
	"net/http"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"cosmosblog/api/subscription"
	"cosmosblog/blog"
	"cosmosblog/guard/budget"
	"cosmosblog/guard/httpserver"
	"cosmosblog/guard/memorypool"
	"cosmosblog/guard/request"
)

// transport implements GraphQL over HTTP: POST for all operations, and GET for queries.
//
// It replaces gqlgen's server and transports, which have three faults. Their errors repeat an
// unreadable body. They respond in plain text to other media types and methods. They add
// `"data": null` to the errors of a request that was not executed.
type transport struct {
	*api
	schema        graphql.ExecutableSchema
	exec          *executor.Executor
	subscriptions *subscription.Server
	sockets       http.Handler
}

// ServeHTTP responds to a request to /graphql. It finds out who asks, reads what is asked, executes
// the operation, and sends its answer. A subscription goes on as a stream of events.
func (t transport) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if t.cors(w, r) {
		return
	}
	r, rejected := t.authenticate(r)
	if rejected == nil {
		rejected = t.checkHeaders(r)
	}
	if rejected != nil {
		t.reject(w, r, rejected)
		return
	}
	if isWebSocket(r) && r.Method == http.MethodGet {
		t.sockets.ServeHTTP(w, r)
		return
	}
	body := t.meterBody(w, r)
	defer body.Close()
	params, rejected := t.readParams(w, r)
	if rejected == nil && !body.Arrived() {
		rejected = errBodyTimeout
	}
	if rejected == nil && t.isEventStream(r, params) {
		body.Close()
		t.serveEvents(w, r, params)
		return
	}
	memory := t.answers.Hold()
	defer memory.Close()
	var executed answer
	if rejected == nil {
		executed, rejected = t.run(r, params, memory)
	}
	if rejected != nil {
		t.reject(w, r, rejected)
		return
	}
	body.Close()
	t.send(w, r, executed, memory)
	recycle(executed.body)
}

// checkHeaders rejects a GET of another site's page, and a request for diagnostics that the server
// cannot give.
func (t transport) checkHeaders(r *http.Request) *rejection {
	if r.Method == http.MethodGet && t.isCrossSite(r) {
		t.logRefusedOrigin(r)
		return errCrossSite
	}
	return t.checkDiagnostics(r)
}

// isEventStream reports whether a request is a subscription by server-sent events.
func (t transport) isEventStream(r *http.Request, params *graphql.RawParams) bool {
	return acceptsEvents(r) && !asksForPriceOnly(r) && t.documents.IsSubscription(params.Query, params.OperationName)
}

// run takes a place, executes the operation of a request and compresses its answer. It compresses
// nothing if the client has the answer already.
//
// The operation has its place, and its time, from the arrival of the body until the answer is
// complete. A client that sends or reads slowly holds no place. If it disconnects, requests to the
// database that are sent are completed. What the operation reads, and its answer, counts in memory.
func (t transport) run(r *http.Request, params *graphql.RawParams, memory *memorypool.Share) (answer, *rejection) {
	p := &place{places: t.places}
	if !p.take() {
		return answer{}, errOverloaded
	}
	defer p.leave()
	ctx, cancel := httpserver.Detached(graphql.StartOperationTrace(r.Context()), t.Limits.Time)
	defer cancel()
	ctx = request.With(ctx, func(q *request.Request) { q.Memory, q.Client = memory, r.Context() })
	executed, rejected := t.execute(ctx, r, params, memory, p)
	coding := negotiateCoding(r, executed.body)
	if executed.cacheControl != "" {
		executed.etag = etagOf(executed, coding)
		if hasETag(r, executed.etag) {
			recycle(executed.body)
			return unchanged(executed), nil
		}
	}
	compressed := t.compressor.compress(executed, coding)
	if coding != "" {
		recycle(executed.body)
	}
	return compressed, rejected
}

// execute executes the operation of a request in a context. The operation holds a place.
func (t transport) execute(ctx context.Context, r *http.Request, params *graphql.RawParams, memory *memorypool.Share, p *place) (answer, *rejection) {
	contentType := negotiateType(r)
	known, operation, errs := t.readOperation(ctx, params)
	if len(errs) > 0 {
		refused := t.exec.DispatchError(graphql.WithOperationContext(ctx, operation), errs)
		return t.encode(contentType, documentStatus(contentType), rejectedResponse(refused)), nil
	}
	if asksForPriceOnly(r) {
		return t.encode(contentType, executedStatus, pricedResponse(operation)), nil
	}
	if operation.Operation.Operation == ast.Subscription {
		return answer{}, errNoStreamType
	}
	if r.Method == http.MethodGet && operation.Operation.Operation != ast.Query {
		return answer{}, errNotAQuery
	}
	payment, rejected := t.beginPayment(ctx, r, operation)
	if rejected != nil {
		return answer{}, rejected
	}
	defer payment.End("(not executed)", budget.Spending{})
	ctx = request.With(ctx, func(q *request.Request) { q.Payment = payment })
	session, rejected := t.beginSession(ctx, r, known, p)
	if rejected != nil {
		return answer{}, rejected
	}
	if r.Context().Err() != nil { // the client has disconnected
		return answer{}, errExpired
	}
	next, operationCtx := t.exec.DispatchOperation(session.ctx, operation)
	executed := next(operationCtx)
	if executed == nil { // gqlgen returns nil if the context ended before the execution began
		return answer{}, errExpired
	}
	token := session.end(executed)
	if len(executed.Data) > t.Limits.AnswerBytes {
		t.dropData(ctx, operation, executed)
	}
	if memory.IsOverfull() && !session.isMutation {
		return answer{}, errAnswersFull
	}
	if memory.IsUnwritten() {
		complete, rejected := t.withoutRoom(ctx, contentType, session.isMutation)
		complete.session, complete.payment = token, payment
		return complete, rejected
	}
	result := executedResponse(executed)
	complete := t.encode(contentType, executedStatus, result)
	complete.isMutation, complete.session, complete.payment = session.isMutation, token, payment
	if r.Method == http.MethodGet && contentType != eventStreamType && isCacheable(result) {
		complete.cacheControl = t.cacheControl(r, known, result.data)
	}
	return complete, nil
}

// dropData removes the data from a response that is too large, and adds an error. The effects of a
// mutation remain.
func (t transport) dropData(ctx context.Context, operation *graphql.OperationContext, executed *graphql.Response) {
	sentence := "The response is larger than %d bytes. Request less at a time."
	if operation.Operation.Operation == ast.Mutation {
		sentence = "The mutation succeeded, but its response is larger than %d bytes. Select fewer fields."
	}
	err := blog.Errorf(blog.LimitExceeded, sentence, t.Limits.AnswerBytes)
	executed.Data = nil
	executed.Errors = append(gqlerror.List{t.present(ctx, err)}, executed.Errors...)
}
