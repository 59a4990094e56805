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

	"cosmosblog/internal/limits"
)

// The size of the cache of documents: clients send few queries, with variables, again and again. A query that holds its
// values in its text is long, and never comes again. A document takes some 400 bytes a token, so that the cache stays below
// 50 MB whatever is sent.
const (
	maxDocuments      = 300
	maxDocumentTokens = 400
	maxDocumentBytes  = 16 << 10
)

// documents makes documents of queries. gqlgen would parse and validate in one go, and some of the rules of validation
// take time and memory that grow with the square of a query: here what is too large is refused before. It may be used
// concurrently.
type documents struct {
	limits      limits.Limits
	development bool
	schema      *ast.Schema
	valid       *lru.LRU[*ast.QueryDocument] // by their text; those that are not too long
}

func newDocuments(l limits.Limits, development bool) *documents {
	return &documents{limits: l, development: development, schema: schema(), valid: lru.New[*ast.QueryDocument](maxDocuments)}
}

// read parses and validates a query that is not known to be valid. Faults: at most limits.Errors of them.
func (d *documents) read(ctx context.Context, query string) (*ast.QueryDocument, gqlerror.List) {
	if document, ok := d.valid.Get(ctx, query); ok {
		return document, nil
	}
	document, tokens, faults := d.parse(query)
	if faults == nil {
		faults = d.validate(document)
		mark(faults, errcode.ValidationFailed)
	}
	if len(faults) > 0 {
		return nil, faults
	}
	if tokens <= maxDocumentTokens && len(query) <= maxDocumentBytes {
		d.valid.Add(ctx, query, document)
	}
	return document, nil
}

// parse gives the document of a query that is within the limits, and of how many tokens it is.
func (d *documents) parse(query string) (*ast.QueryDocument, int, gqlerror.List) {
	if len(query) > d.limits.QueryBytes {
		return nil, 0, gqlerror.List{tooMuch(&ast.Position{Line: 1, Column: 1}, "The query is longer than %d bytes: send contents in variables.", d.limits.QueryBytes)}
	}
	if strings.Count(query, "\n")+strings.Count(query, "\r") > limits.Lines {
		return nil, 0, gqlerror.List{tooMuch(&ast.Position{Line: 1, Column: 1}, "The query has more than %d lines: send contents in variables.", limits.Lines)}
	}
	tokens, fault := checkWords(query, d.limits.Tokens)
	if fault != nil {
		return nil, 0, gqlerror.List{fault}
	}
	document, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: query}, d.limits.Tokens)
	if err != nil {
		faults := gqlerror.List{gqlerror.WrapIfUnwrapped(err)}
		mark(faults, errcode.ParseFailed)
		return nil, 0, faults
	}
	if len(document.Operations) == 0 {
		return nil, 0, gqlerror.List{tooMuch(document.Position, "The query holds no operation.")}
	}
	if fault := checkSize(document, d.limits); fault != nil {
		return nil, 0, gqlerror.List{fault}
	}
	return document, tokens, nil
}

// mark says of faults that they are the client's: see ErrorPresenter. It also mends their places: gqlparser counts the
// column of a block string from the line that it ends in, so that it comes before the first.
func mark(faults gqlerror.List, code string) {
	for _, fault := range faults {
		errcode.Set(fault, code)
		for i := range fault.Locations {
			fault.Locations[i].Column = max(1, fault.Locations[i].Column)
		}
	}
}

// createOperation makes a request an operation that can be executed.
func (t transport) createOperation(ctx context.Context, exec graphql.GraphExecutor, params *graphql.RawParams) (*graphql.OperationContext, gqlerror.List) {
	document, faults := t.documents.read(ctx, params.Query)
	if len(faults) > 0 {
		return &graphql.OperationContext{
			RawQuery: params.Query, OperationName: params.OperationName, Extensions: params.Extensions, Headers: params.Headers,
			RecoverFunc: t.Errors.Recover,
		}, faults
	}
	return exec.CreateOperationContext(context.WithValue(ctx, documentKey{}, document), params)
}

type documentKey struct{}

// givenDocument is the query cache of gqlgen, which always finds there what createOperation read.
type givenDocument struct{}

func (givenDocument) Get(ctx context.Context, _ string) (*ast.QueryDocument, bool) {
	document, ok := ctx.Value(documentKey{}).(*ast.QueryDocument)
	return document, ok
}

func (givenDocument) Add(context.Context, string, *ast.QueryDocument) {}
