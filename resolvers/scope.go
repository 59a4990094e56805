package resolvers

import (
	"context"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"cosmosblog/internal/blog"
	"cosmosblog/store"
)

// scope is what the fields of one request share, so that nothing is read twice. A query is one scope. Mutations run one
// after the other and change what is read, so each has a scope of its own; the budget is the whole operation's.
type scope struct {
	*budget

	users    loader[string, *blog.User]
	posts    loader[string, *blog.Post] // whole posts
	comments loader[blog.Ref, *blog.Comment]
	likes    loader[blog.Ref, *blog.Like]
	liked    loader[string, bool] // the viewer's likes, by post

	pagesOfPosts    pages[*blog.Post]
	pagesOfComments pages[*blog.Comment]
	pagesOfLikes    pages[*blog.Like]

	// parents holds, by id, posts that are known to be there because their comments or likes are being listed or a command
	// gave them, and nil for those that a command deleted.
	parents sync.Map
}

type scopeKey struct{}

func withScope(ctx context.Context, b *budget) context.Context {
	return context.WithValue(ctx, scopeKey{}, &scope{budget: b})
}

func scopeOf(ctx context.Context) *scope { return ctx.Value(scopeKey{}).(*scope) }

// ExtensionName names the extension, as gqlgen asks for.
func (r *Resolver) ExtensionName() string { return "Resolvers" }

// Validate takes any schema.
func (r *Resolver) Validate(graphql.ExecutableSchema) error { return nil }

// InterceptResponse gives every answer its scope and its session, and its diagnostics where they are asked for. What there
// is of an answer whose time was over while it was made is not given: gqlgen leaves lists in it empty.
func (r *Resolver) InterceptResponse(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
	ctx = withScope(store.WithSession(ctx), newBudget(r.limits))
	var d *diagnostics
	if r.wantsDiagnostics(ctx) {
		d = new(diagnostics)
		ctx = store.WithRecorder(ctx, d)
	}
	response := next(ctx)
	if response == nil {
		return nil
	}
	if ctx.Err() != nil && len(response.Errors) > 0 {
		response.Data = nil
	}
	if d != nil {
		d.addTo(response, estimateOf(ctx))
	}
	return response
}

// InterceptRootField gives every mutation a scope of its own.
func (r *Resolver) InterceptRootField(ctx context.Context, next graphql.RootResolver) graphql.Marshaler {
	if graphql.GetOperationContext(ctx).Operation.Operation == ast.Mutation {
		ctx = withScope(ctx, scopeOf(ctx).budget)
	}
	return next(ctx)
}

var _ interface {
	graphql.HandlerExtension
	graphql.OperationContextMutator
	graphql.ResponseInterceptor
	graphql.RootFieldInterceptor
} = (*Resolver)(nil)
