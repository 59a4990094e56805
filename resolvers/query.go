package resolvers

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"golang.org/x/sync/errgroup"

	"cosmosblog/blog"
	"cosmosblog/graph"
	"cosmosblog/graph/model"
	"cosmosblog/guard/request"
)

type queryResolver struct{ *Resolver }

var _ graph.QueryResolver = queryResolver{}

// Viewer resolves Query.viewer. It returns nil if the request is anonymous or the account has no
// user.
func (r queryResolver) Viewer(ctx context.Context) (*blog.User, error) {
	account := request.Of(ctx).Account
	if account == nil {
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

// Tag resolves Query.tag. It reads nothing: a tag without posts has an empty list.
func (r queryResolver) Tag(_ context.Context, name string) (*blog.Tag, error) {
	if err := blog.AtField(blog.CheckTag(name), "name"); err != nil {
		return nil, err
	}
	return &blog.Tag{Name: name}, nil
}

// Tags resolves Query.tags.
func (r queryResolver) Tags(ctx context.Context, first *int) ([]*blog.Tag, error) {
	n, err := checkFirst(first)
	if err != nil {
		return nil, err
	}
	return readList(ctx, n, func() ([]*blog.Tag, error) { return r.store.Tags(ctx, n) })
}

// Archive resolves Query.archive. It reads nothing: a month without posts has an empty list.
func (r queryResolver) Archive(_ context.Context, month string) (*blog.Month, error) {
	if err := blog.AtField(blog.CheckMonth(month), "month"); err != nil {
		return nil, err
	}
	return &blog.Month{Name: month}, nil
}

// ArchiveMonths resolves Query.archiveMonths.
func (r queryResolver) ArchiveMonths(ctx context.Context, first *int, before *string) ([]*blog.Month, error) {
	n, err := checkFirst(first)
	if before == nil {
		before = new(string)
	} else {
		err = blog.JoinFields(err, blog.AtField(blog.CheckMonth(*before), "before"))
	}
	if err != nil {
		return nil, err
	}
	return readList(ctx, n, func() ([]*blog.Month, error) { return r.store.Months(ctx, n, *before) })
}

// checkFirst returns the argument `first` of a list that is no connection. Error: BAD_USER_INPUT.
func checkFirst(first *int) (int, error) {
	request, err := model.FeedList.PageRequest(first, nil)
	return request.First, err
}

// readList reads a list of at most n elements, within the limits of the operation. Without elements
// it reads nothing.
func readList[T any](ctx context.Context, n int, read func() ([]T, error)) (list []T, err error) {
	if n == 0 {
		return []T{}, nil
	}
	err = scopeFrom(ctx).read(ctx, n, func() (bytes int, err error) {
		list, err = read()
		return 0, err
	})
	return list, err
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
func (r queryResolver) Nodes(ctx context.Context, given []*blog.Ref) ([]model.Node, error) {
	ids := make([]blog.Ref, len(given))
	for i, id := range given {
		ids[i] = *id
	}
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
