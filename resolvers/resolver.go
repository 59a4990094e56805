// Package resolvers answers the fields of the GraphQL schema from the store, one file a type. It turns ids, cursors and
// inputs into the store's arguments and the store's pages into connections; rules are in blog and in the store. What is
// read during one request is kept for that request, and what the elements of a list need is read for all of them at once.
package resolvers

import (
	"log/slog"

	"cosmosblog/graph"
	"cosmosblog/internal/limits"
	"cosmosblog/store"
)

// Resolver is the root of all resolvers. It is also the extension of the GraphQL server that they need (see scope) and
// its presenter of errors. It may be used concurrently.
type Resolver struct {
	store       *store.Store
	logger      *slog.Logger
	diagnostics bool
	limits      limits.Limits
	prices      map[string]*pricedType
}

// Options are what New takes beside the store. The zero value works.
type Options struct {
	Logger *slog.Logger // slog's default where nil
	// Diagnostics lets a request ask, by the header X-Cosmos-Diagnostics, for what it cost.
	Diagnostics bool
	// Limits are what an operation may cost and read; the default ones where none are set.
	Limits limits.Limits
}

// New makes the resolvers of a store.
func New(s *store.Store, options Options) *Resolver {
	logger := options.Logger
	if logger == nil {
		logger = slog.Default()
	}
	return &Resolver{
		store: s, logger: logger, diagnostics: options.Diagnostics, limits: options.Limits.OrDefault(),
		prices: newPriceList(graph.NewExecutableSchema(graph.Config{}).Schema()),
	}
}

// Query gives the resolvers of Query.
func (r *Resolver) Query() graph.QueryResolver { return queryResolver{r} }

// Mutation gives the resolvers of Mutation.
func (r *Resolver) Mutation() graph.MutationResolver { return mutationResolver{r} }

// User gives the resolvers of User.
func (r *Resolver) User() graph.UserResolver { return userResolver{r} }

// Post gives the resolvers of Post.
func (r *Resolver) Post() graph.PostResolver { return postResolver{r} }

// Comment gives the resolvers of Comment.
func (r *Resolver) Comment() graph.CommentResolver { return commentResolver{r} }

// Like gives the resolvers of Like.
func (r *Resolver) Like() graph.LikeResolver { return likeResolver{r} }

var _ graph.ResolverRoot = (*Resolver)(nil)
