package httpapi

import (
	"context"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/99designs/gqlgen/graphql/handler/lru"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"

	"cosmosblog/internal/blog"
	"cosmosblog/internal/limits"
)

// The bounds of the document cache. Clients send few distinct queries, with variables, over and
// over. A query with its values in its text is long and never repeats, so long queries are not
// cached. A document takes about 400 bytes per token, so the cache stays below 50 MB.
const (
	maxDocuments      = 300
	maxDocumentTokens = 400
	maxDocumentBytes  = 16 << 10
)

// documents parses and validates queries, and caches valid ones. gqlgen would parse and validate
// in one step, although the time and memory of some validation rules grow with the square of a
// query. Here, queries above the limits are rejected before validation. It may be used
// concurrently.
type documents struct {
	limits      limits.Limits
	development bool
	schema      *ast.Schema
	valid       *lru.LRU[*ast.QueryDocument] // by query text
}

func newDocuments(l limits.Limits, development bool) *documents {
	return &documents{limits: l, development: development, schema: schema(), valid: lru.New[*ast.QueryDocument](maxDocuments)}
}

// read returns the document of a query, parsed and validated. Otherwise it returns at most
// limits.Errors errors.
func (d *documents) read(ctx context.Context, query string) (*ast.QueryDocument, gqlerror.List) {
	if document, ok := d.valid.Get(ctx, query); ok {
		return document, nil
	}
	document, tokens, errs := d.parse(query)
	if errs == nil {
		errs = d.validate(document)
		nameFields(document, errs)
		markAsClientErrors(errs, errcode.ValidationFailed)
	}
	if len(errs) > 0 {
		return nil, errs
	}
	if tokens <= maxDocumentTokens && len(query) <= maxDocumentBytes {
		d.valid.Add(ctx, query, document)
	}
	return document, nil
}

// parse returns the document of a query, and its number of tokens. It fails if the query is
// malformed or above a limit.
func (d *documents) parse(query string) (*ast.QueryDocument, int, gqlerror.List) {
	start := &ast.Position{Line: 1, Column: 1}
	if len(query) > d.limits.QueryBytes {
		return nil, 0, gqlerror.List{aboveLimit(start, "The query is longer than %d bytes. Send long texts in variables.", d.limits.QueryBytes)}
	}
	if strings.Count(query, "\n")+strings.Count(query, "\r") > limits.Lines {
		return nil, 0, gqlerror.List{aboveLimit(start, "The query has more than %d lines. Send long texts in variables.", limits.Lines)}
	}
	tokens, err := checkTokens(query, d.limits.Tokens)
	if err != nil {
		return nil, 0, gqlerror.List{err}
	}
	document, parseError := parser.ParseQueryWithTokenLimit(&ast.Source{Input: query}, d.limits.Tokens)
	if parseError != nil {
		errs := gqlerror.List{gqlerror.WrapIfUnwrapped(parseError)}
		markAsClientErrors(errs, errcode.ParseFailed)
		return nil, 0, errs
	}
	if len(document.Operations) == 0 {
		return nil, 0, gqlerror.List{badDocument(blog.GraphQLParseFailed, document.Position, "The query has no operation.")}
	}
	if err := checkSize(document, d.limits); err != nil {
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

// createOperation returns the operation to execute for a request, or the errors of its document and
// variables.
func (t transport) createOperation(ctx context.Context, exec graphql.GraphExecutor, params *graphql.RawParams) (*graphql.OperationContext, gqlerror.List) {
	document, errs := t.documents.read(ctx, params.Query)
	rejected := &graphql.OperationContext{
		RawQuery: params.Query, OperationName: params.OperationName, Extensions: params.Extensions, Headers: params.Headers,
		RecoverFunc: t.Errors.Recover,
	}
	if len(errs) > 0 {
		return rejected, errs
	}
	if operation := document.Operations.ForName(params.OperationName); operation != nil {
		errs = checkVariables(t.documents.schema, document, operation, params.Variables, t.Limits.Errors)
		if len(errs) > 0 {
			rejected.Doc, rejected.Operation = document, operation
			return rejected, errs
		}
	}
	t.persisted.keep(ctx, params)
	return exec.CreateOperationContext(context.WithValue(ctx, documentKey{}, document), params)
}

type documentKey struct{}

// contextDocument is gqlgen's query cache. It always returns the document that createOperation
// put into the context, so gqlgen does not parse or validate queries itself.
type contextDocument struct{}

func (contextDocument) Get(ctx context.Context, _ string) (*ast.QueryDocument, bool) {
	document, ok := ctx.Value(documentKey{}).(*ast.QueryDocument)
	return document, ok
}

func (contextDocument) Add(context.Context, string, *ast.QueryDocument) {}
