package resolvers

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"golang.org/x/sync/errgroup"

	"cosmosblog/graph"
	"cosmosblog/graph/model"
	"cosmosblog/internal/auth"
	"cosmosblog/internal/blog"
)

type queryResolver struct{ *Resolver }

var _ graph.QueryResolver = queryResolver{}

// Viewer resolves Query.viewer. It returns nil if the request is anonymous or the account has no
// user.
func (r queryResolver) Viewer(ctx context.Context) (*blog.User, error) {
	account, ok := auth.AccountFrom(ctx)
	if !ok {
		return nil, nil
	}
	return r.loadUser(ctx, account.UserID(), nil)
}

// User resolves Query.user (Q1).
func (r queryResolver) User(ctx context.Context, id blog.Ref) (*blog.User, error) {
	if err := checkType("id", id, blog.TypeUser); err != nil {
		return nil, err
	}
	return r.loadUser(ctx, id.ID, nil)
}

// UserByUsername resolves Query.userByUsername.
func (r queryResolver) UserByUsername(ctx context.Context, username string) (*blog.User, error) {
	if err := blog.AtField(blog.CheckUsername(username), "username"); err != nil {
		return nil, err
	}
	return orNull(r.store.UserByUsername(ctx, username))
}

// Post resolves Query.post (Q2).
func (r queryResolver) Post(ctx context.Context, id blog.Ref) (*blog.Post, error) {
	if err := checkType("id", id, blog.TypePost); err != nil {
		return nil, err
	}
	post, err := r.loadPost(ctx, id.ID, nil)
	return r.withSelected(ctx, post, err)
}

// Feed resolves Query.feed (Q6).
func (r queryResolver) Feed(ctx context.Context, first *int, after *string) (*model.PostConnection, error) {
	return connection(ctx, listSource[*blog.Post]{
		list:  model.FeedList,
		pages: &scopeFrom(ctx).postPages,
		read:  r.store.Feed,
	}, first, after)
}

// Node resolves Query.node.
func (r queryResolver) Node(ctx context.Context, id blog.Ref) (model.Node, error) {
	if id == (blog.Ref{}) {
		return nil, blog.AtField(blog.ErrBadRef, "id")
	}
	return r.node(ctx, id, batch{})
}

// Limits of Query.nodes.
const (
	maxNodes           = 100 // ids in the argument
	maxConcurrentNodes = 8   // reads at one time
)

// Nodes resolves Query.nodes. It reads all users at once and all posts at once, and each comment
// and like on its own. An element that fails is nil, and its error has the element's path.
func (r queryResolver) Nodes(ctx context.Context, ids []blog.Ref) ([]model.Node, error) {
	if len(ids) < 1 || len(ids) > maxNodes {
		return nil, blog.AtField(blog.Errorf(blog.BadUserInput, "`ids` must have at least 1 and at most %d ids.", maxNodes), "ids")
	}
	nodes, errs, batch := make([]model.Node, len(ids)), make([]error, len(ids)), batchOf(ids)
	var reads errgroup.Group
	reads.SetLimit(maxConcurrentNodes)
	for i, id := range ids {
		reads.Go(func() error {
			defer recoverInto(&errs[i])
			nodes[i], errs[i] = r.node(ctx, id, batch)
			return nil
		})
	}
	_ = reads.Wait() // the errors are in errs
	for i, err := range errs {
		if ids[i] == (blog.Ref{}) {
			err = blog.AtField(err, "ids", i)
		}
		graphql.AddError(graphql.WithFieldContext(ctx, &graphql.FieldContext{Index: &i}), err)
	}
	return nodes, nil
}
