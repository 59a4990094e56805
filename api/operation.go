package api

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"cosmosblog/api/coercion"
	"cosmosblog/api/documents"
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
