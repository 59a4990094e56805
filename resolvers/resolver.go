// Package resolvers resolves the fields of the GraphQL schema from the store, with one file for
// each type. It turns ids, cursors and inputs into arguments of the store, and the store's pages
// into connections. The rules of the domain are in blog and in the store.
//
// The package has three parts, which the server combines:
//   - Resolver resolves fields.
//   - ScopeExtension adds to each operation the scope in which resolvers share and batch their
//     reads. Each item and page is read once per scope, and one read serves all elements of a
//     list.
//   - ErrorPresenter turns every error into an error that clients may see.
//
// This folder is not for other modules: it may change in any version.
package resolvers

import (
	"cosmosblog/graph"
	"cosmosblog/store"
)

// Resolver is the root of all resolvers. Operations must run under a ScopeExtension. It may be
// used concurrently.
type Resolver struct {
	store    *store.Store
	arrivals *arrivalWatch
}

// New returns the resolvers of a store.
func New(s *store.Store) *Resolver { return &Resolver{s, &arrivalWatch{store: s}} }

// Query returns the resolvers of Query.
func (r *Resolver) Query() graph.QueryResolver { return queryResolver{r} }

// Mutation returns the resolvers of Mutation.
func (r *Resolver) Mutation() graph.MutationResolver { return mutationResolver{r} }

// Subscription returns the resolvers of Subscription.
func (r *Resolver) Subscription() graph.SubscriptionResolver { return subscriptionResolver{r} }

// User returns the resolvers of User.
func (r *Resolver) User() graph.UserResolver { return userResolver{r} }

// Post returns the resolvers of Post.
func (r *Resolver) Post() graph.PostResolver { return postResolver{r} }

// Tag implements graph.ResolverRoot.
func (r *Resolver) Tag() graph.TagResolver { return tagResolver{r} }

// ArchiveMonth implements graph.ResolverRoot.
func (r *Resolver) ArchiveMonth() graph.ArchiveMonthResolver { return archiveMonthResolver{r} }

// Comment returns the resolvers of Comment.
func (r *Resolver) Comment() graph.CommentResolver { return commentResolver{r} }

// Like returns the resolvers of Like.
func (r *Resolver) Like() graph.LikeResolver { return likeResolver{r} }

var _ graph.ResolverRoot = (*Resolver)(nil)
