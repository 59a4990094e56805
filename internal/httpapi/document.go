package httpapi

import (
	"context"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"

	"cosmosblog/graph"
	"cosmosblog/internal/limits"
	"cosmosblog/internal/price"
	"cosmosblog/internal/querylimits"
	"cosmosblog/internal/variables"
)

// documents parses, validates and prices queries, and caches valid ones. gqlgen would parse and
// validate in one step, although the time and memory of some validation rules grow with the square
// of a query. Here, queries above the limits are rejected before validation. It may be used
// concurrently.
type documents struct {
	limits      limits.Limits
	development bool
	schema      *ast.Schema
	prices      *price.Checker
	known       knownDocuments
}

func newDocuments(l limits.Limits, development bool) *documents {
	schema := schema()
	return &documents{limits: l, development: development, schema: schema, prices: price.NewChecker(schema, l)}
}

// read returns the document of a query, parsed and validated, with the operation of a name.
// Otherwise it returns at most limits.Errors errors. If the document has no such operation, the
// operation is nil.
func (d *documents) read(query, operationName string) (*knownDocument, gqlerror.List) {
	key := documentKey{query, operationName}
	if known := d.known.find(key); known != nil {
		return known, nil
	}
	if len(query) <= d.limits.QueryBytes {
		// The query is a part of the request's body, which the cache must not keep in memory.
		key = documentKey{strings.Clone(query), strings.Clone(operationName)}
	}
	document, tokens, errs := d.parse(key.query)
	if errs == nil {
		errs = d.validate(document)
		variables.NameFields(document, errs)
		markAsClientErrors(errs, errcode.ValidationFailed)
	}
	if len(errs) > 0 {
		return nil, errs
	}
	known := &knownDocument{document: document, operation: document.Operations.ForName(operationName)}
	if known.operation != nil {
		known.asksOfViewer = selects(d.schema, document, known.operation, viewerDirective)
		known.readsViews = selects(d.schema, document, known.operation, viewDirective)
		if known.price = d.prices.Prepare(document, known.operation); known.price != nil {
			known.selections = graph.NewSelections(tokens)
		}
		d.known.add(key, known, tokens)
	}
	return known, nil
}

// parse returns the document of a query, and its number of tokens. It fails if the query is
// malformed or above a limit.
func (d *documents) parse(query string) (*ast.QueryDocument, int, gqlerror.List) {
	tokens, err := querylimits.CheckText(query, d.limits)
	if err != nil {
		return nil, 0, gqlerror.List{err}
	}
	document, parseError := parser.ParseQueryWithTokenLimit(&ast.Source{Input: query}, d.limits.Tokens)
	if parseError != nil {
		errs := gqlerror.List{gqlerror.WrapIfUnwrapped(parseError)}
		markAsClientErrors(errs, errcode.ParseFailed)
		return nil, 0, errs
	}
	if err := querylimits.CheckTree(document, d.limits); err != nil {
		return nil, 0, gqlerror.List{err}
	}
	return document, tokens, nil
}

// markAsClientErrors sets the code by which the ErrorPresenter recognizes errors of the
// client. It also corrects columns below 1. gqlparser computes the column of a block string from
// the line that the string ends in, so the column can be negative.
func markAsClientErrors(errs gqlerror.List, code string) {
	for _, err := range errs {
		errcode.Set(err, code)
		for i := range err.Locations {
			err.Locations[i].Column = max(1, err.Locations[i].Column)
		}
	}
}

// createOperation returns the document of a request and the operation to execute. Otherwise it
// returns the errors of the document and the variables, or of the price.
func (t transport) createOperation(
	ctx context.Context, params *graphql.RawParams,
) (*knownDocument, *graphql.OperationContext, gqlerror.List) {
	known, errs := t.documents.read(params.Query, params.OperationName)
	rejected := &graphql.OperationContext{
		RawQuery: params.Query, OperationName: params.OperationName, Extensions: params.Extensions, Headers: params.Headers,
		RecoverFunc: t.Errors.Recover,
	}
	if len(errs) > 0 {
		return nil, rejected, errs
	}
	if known.operation != nil {
		errs = variables.Check(t.documents.schema, known.document, known.operation, params.Variables, t.Limits.Errors)
		if len(errs) > 0 {
			rejected.Doc, rejected.Operation = known.document, known.operation
			return nil, rejected, errs
		}
	}
	t.persisted.keep(ctx, params)
	operation, errs := t.exec.CreateOperationContext(context.WithValue(ctx, knownDocumentKey{}, known), params)
	if len(errs) > 0 {
		return nil, operation, errs
	}
	if err := t.documents.prices.Check(operation, known.price); err != nil {
		return nil, operation, gqlerror.List{err}
	}
	if known.selections != nil {
		graph.SetSelections(operation, known.selections)
	}
	return known, operation, nil
}

type knownDocumentKey struct{}

// contextDocument is gqlgen's query cache. It always returns the document that createOperation
// put into the context, so gqlgen does not parse or validate queries itself.
type contextDocument struct{}

func (contextDocument) Get(ctx context.Context, _ string) (*ast.QueryDocument, bool) {
	known, ok := ctx.Value(knownDocumentKey{}).(*knownDocument)
	if !ok {
		return nil, false
	}
	return known.document, true
}

func (contextDocument) Add(context.Context, string, *ast.QueryDocument) {}
