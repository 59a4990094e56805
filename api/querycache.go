package api

import (
	"context"

	"github.com/vektah/gqlparser/v2/ast"

	"cosmosblog/api/documents"
)

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
