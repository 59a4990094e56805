package resolvers

import (
	"context"

	"golang.org/x/sync/errgroup"

	"cosmosblog/graph"
	"cosmosblog/graph/model"
	"cosmosblog/internal/blog"
)

type queryResolver struct{ *Resolver }

var _ graph.QueryResolver = queryResolver{}

// Viewer answers Query.viewer.
func (r queryResolver) Viewer(ctx context.Context) (*blog.User, error) { return r.viewer(ctx) }

// User answers Query.user (Q1).
func (r queryResolver) User(ctx context.Context, id blog.Ref) (*blog.User, error) {
	if err := check(id, blog.TypeUser); err != nil {
		return nil, err
	}
	return r.user(ctx, id.ID, nil)
}

// UserByUsername answers Query.userByUsername.
func (r queryResolver) UserByUsername(ctx context.Context, username string) (*blog.User, error) {
	if err := blog.CheckUsername(username); err != nil {
		return nil, err
	}
	return orNull(r.store.UserByUsername(ctx, username))
}

// Post answers Query.post (Q2).
func (r queryResolver) Post(ctx context.Context, id blog.Ref) (*blog.Post, error) {
	if err := check(id, blog.TypePost); err != nil {
		return nil, err
	}
	return r.post(ctx, id.ID, nil)
}

// Feed answers Query.feed (Q6).
func (r queryResolver) Feed(ctx context.Context, first *int, after *string) (*model.PostConnection, error) {
	return connection(ctx, source[*blog.Post]{list: model.FeedList, pages: &scopeOf(ctx).pagesOfPosts, read: r.store.Feed}, first, after)
}

// Node answers Query.node.
func (r queryResolver) Node(ctx context.Context, id blog.Ref) (model.Node, error) {
	return r.node(ctx, id, siblings{})
}

// The limits of Query.nodes: how many ids it takes, and how many reads it has under way at a time.
const (
	maxNodes    = 100
	nodesAtOnce = 8
)

// Nodes answers Query.nodes: users and posts in one read each, comments and likes one by one.
func (r queryResolver) Nodes(ctx context.Context, ids []blog.Ref) ([]model.Node, error) {
	if len(ids) < 1 || len(ids) > maxNodes {
		return nil, blog.Errorf(blog.BadUserInput, "`ids` has at least one id and at most %d.", maxNodes)
	}
	nodes, siblings := make([]model.Node, len(ids)), siblingsOf(ids)
	var reads errgroup.Group
	reads.SetLimit(nodesAtOnce)
	for i, id := range ids {
		reads.Go(func() (err error) {
			defer r.recoverInto(ctx, &err)
			nodes[i], err = r.node(ctx, id, siblings)
			return err
		})
	}
	return nodes, reads.Wait()
}
