package resolvers

import (
	"context"

	"cosmosblog/blog"
	"cosmosblog/graph"
	"cosmosblog/graph/model"
)

type userResolver struct{ *Resolver }

var _ graph.UserResolver = userResolver{}

// CreationDate resolves User.creationDate. References to a user lack it. It is nil if the user no
// longer exists.
func (r userResolver) CreationDate(ctx context.Context, user *blog.User) (*blog.DateTime, error) {
	user, err := r.whole(ctx, user)
	if err != nil || user == nil {
		return nil, err
	}
	return &user.CreationDate, nil
}

// PostCount resolves User.postCount. References to a user lack it. It is 0 if the user no longer
// exists.
func (r userResolver) PostCount(ctx context.Context, user *blog.User) (*int, error) {
	user, err := r.whole(ctx, user)
	if err != nil {
		return nil, err
	}
	if user == nil {
		return new(int), nil
	}
	return &user.PostCount, nil
}

// Posts resolves User.posts (Q3).
func (r userResolver) Posts(ctx context.Context, user *blog.User, first *int, after *string) (*model.PostConnection, error) {
	return connection(ctx, listSource[*blog.Post]{
		list:  model.UserPostsList(user.ID),
		pages: &scopeFrom(ctx).postPages,
		exists: func(ctx context.Context) (int, bool, error) {
			existing, err := r.whole(ctx, user)
			return 0, existing != nil && !existing.Deleted, err
		},
		read: func(ctx context.Context, page blog.PageRequest) (blog.Page[*blog.Post], error) {
			return r.store.UserPosts(ctx, user.ID, page)
		},
	}, first, after)
}

// whole returns the user behind a reference, or nil if the user no longer exists. It reads the user
// together with the other users of the same list.
func (r userResolver) whole(ctx context.Context, user *blog.User) (*blog.User, error) {
	if user.Loaded() {
		return user, nil
	}
	return r.loadUser(ctx, user.ID, siblingUsers(ctx))
}
