package httpapi

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler/lru"
	"github.com/vektah/gqlparser/v2/ast"
)

// The size of the document cache: clients send few queries, with variables, again and again. A query that holds its
// values in its text is long, and never comes again.
const (
	maxDocuments     = 1000
	maxDocumentBytes = 16 << 10
)

// documentCache keeps queries that were parsed and found valid. It may be used concurrently.
type documentCache struct {
	graphql.Cache[*ast.QueryDocument]
}

func newDocumentCache() documentCache {
	return documentCache{lru.New[*ast.QueryDocument](maxDocuments)}
}

// Add keeps a query that is not too long.
func (c documentCache) Add(ctx context.Context, query string, document *ast.QueryDocument) {
	if len(query) <= maxDocumentBytes {
		c.Cache.Add(ctx, query, document)
	}
}
