package api

import (
	"context"
	"net/http"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"cosmosblog/api/coercion"
	"cosmosblog/api/documents"
	"cosmosblog/guard/budget"
	"cosmosblog/guard/price"
	"cosmosblog/guard/request"
)

// readOperation returns the document of a request and the operation to execute. Otherwise it
// returns the errors of the document and the variables, or of the price.
func (t transport) readOperation(
	ctx context.Context, params *graphql.RawParams,
) (*documents.Document, *graphql.OperationContext, gqlerror.List) {
	known, errs := t.documents.Read(params.Query, params.OperationName)
	if len(errs) > 0 {
		return nil, t.rejectedOperation(params), errs
	}
	t.persisted.keep(ctx, params)
	operation, errs := t.createOperation(ctx, params, known)
	if len(errs) > 0 {
		return nil, operation, errs
	}
	return known, operation, nil
}

// createOperation returns the operation of a known document to execute. Otherwise it returns the
// errors of the variables, or of the price.
func (t transport) createOperation(
	ctx context.Context, params *graphql.RawParams, known *documents.Document,
) (*graphql.OperationContext, gqlerror.List) {
	if known.Operation != nil {
		values, errs := coercion.Variables(t.documents.Schema(), known.AST, known.Operation, params.Variables, t.Limits.Errors)
		if len(errs) > 0 {
			rejected := t.rejectedOperation(params)
			rejected.Doc, rejected.Operation = known.AST, known.Operation
			return rejected, errs
		}
		coerced := *params
		coerced.Variables = values
		params = &coerced
	}
	operation, errs := t.exec.CreateOperationContext(context.WithValue(ctx, knownDocumentKey{}, known), params)
	if len(errs) > 0 {
		return operation, errs
	}
	if err := t.documents.Prepare(operation, known); err != nil {
		return operation, gqlerror.List{err}
	}
	return operation, nil
}

// rejectedOperation is what is known of an operation that is not executed.
func (t transport) rejectedOperation(params *graphql.RawParams) *graphql.OperationContext {
	return &graphql.OperationContext{
		RawQuery: params.Query, OperationName: params.OperationName, Extensions: params.Extensions, Headers: params.Headers,
		RecoverFunc: t.Errors.Recover,
	}
}

// contextDocument is gqlgen's query cache. It always returns the document that createOperation
// put into the context, so gqlgen does not parse or validate queries itself.
type contextDocument struct{}

func (contextDocument) Get(ctx context.Context, _ string) (*ast.QueryDocument, bool) {
	known, ok := ctx.Value(knownDocumentKey{}).(*documents.Document)
	if !ok {
		return nil, false
	}
	return known.AST, true
}

func (contextDocument) Add(context.Context, string, *ast.QueryDocument) {}

type knownDocumentKey struct{}

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
