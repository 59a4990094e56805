package api

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler/lru"

	"cosmosblog/api/documents"
	"cosmosblog/blog"
)

// persistedQueries implements Apollo's automatic persisted queries. A client sends the SHA-256 of
// a query instead of the query. If the server does not know it, the client sends both once.
//
// Only development keeps queries. It keeps maxPersisted valid ones, not longer than those in the
// cache of documents. It may be used concurrently.
type persistedQueries struct {
	texts *lru.LRU[string] // by hash; nil if the server keeps none
}

const maxPersisted = 300 // of at most documents.MaxBytes: 5 MB

func newPersistedQueries(development bool) persistedQueries {
	if !development {
		return persistedQueries{}
	}
	return persistedQueries{texts: lru.New[string](maxPersisted)}
}

// resolveDocument sets the query of a request that has only the id of a document, or a hash. It
// rejects a request with an id and a query, and with the given status, an id that is unknown.
func (a *api) resolveDocument(ctx context.Context, params *graphql.RawParams, documentID string, status int) *rejection {
	hash, rejected := persistedHash(params)
	if rejected != nil {
		return rejected
	}
	if documentID != "" {
		text, ok := a.documents.Text(documentID)
		switch {
		case params.Query != "" || hash != "":
			return errIDAndQuery
		case !ok:
			return &rejection{status: status, err: errUnknownHash}
		}
		params.Query = text
		return nil
	}
	if hash != "" && params.Query == "" {
		for _, id := range []string{hash, documents.HashPrefix + hash} { // Apollo's manifests have the hash alone
			if text, ok := a.documents.Text(id); ok {
				params.Query = text
				return nil
			}
		}
	}
	return a.persisted.resolve(ctx, params, a.Limits.QueryBytes, status)
}

// resolve sets the query of a request that has only a hash. It rejects a hash that is malformed,
// not that of the request's query, or unknown. The latter has the given status.
func (p persistedQueries) resolve(ctx context.Context, params *graphql.RawParams, maxQueryBytes, status int) *rejection {
	hash, rejected := persistedHash(params)
	switch {
	case hash == "" || rejected != nil:
		return rejected
	case params.Query != "":
		// Longer queries are rejected without the cost of their hash.
		if len(params.Query) <= maxQueryBytes && documents.HashID(params.Query) != documents.HashPrefix+hash {
			return errOtherHash
		}
		return nil
	case p.texts == nil:
		return &rejection{status: status, err: errHashesNotSupported}
	}
	text, ok := p.texts.Get(ctx, hash)
	if !ok {
		return &rejection{status: status, err: errUnknownHash}
	}
	params.Query = text
	return nil
}

// keep keeps the query of a request that has a hash. The query must be valid.
func (p persistedQueries) keep(ctx context.Context, params *graphql.RawParams) {
	if p.texts == nil || len(params.Query) > documents.MaxBytes {
		return
	}
	if hash, _ := persistedHash(params); hash != "" {
		p.texts.Add(ctx, strings.Clone(hash), strings.Clone(params.Query)) // resolve has compared them
	}
}

// persistedHash returns the hash in `extensions.persistedQuery`, empty if there is none.
func persistedHash(params *graphql.RawParams) (string, *rejection) {
	extension := params.Extensions["persistedQuery"]
	if extension == nil {
		return "", nil
	}
	members, _ := extension.(map[string]any)
	version, _ := members["version"].(json.Number)
	hash, _ := members["sha256Hash"].(string)
	if version != "1" || !sha256Form.MatchString(hash) {
		return "", errBadHash
	}
	return hash, nil
}

var sha256Form = regexp.MustCompile(`^[0-9a-f]{64}$`)

// Apollo Client and urql look for these messages.
var (
	errUnknownHash        = blog.Errorf(blog.PersistedQueryNotFound, "PersistedQueryNotFound")
	errHashesNotSupported = blog.Errorf(blog.PersistedQueryNotSupported, "PersistedQueryNotSupported")
)
