package resolvers

import (
	"context"

	"cosmosblog/graph"
	"cosmosblog/graph/model"
	"cosmosblog/internal/blog"
)

type userResolver struct{ *Resolver }

var _ graph.UserResolver = userResolver{}

// CreationDate answers User.creationDate, which a reference to a user lacks.
func (r userResolver) CreationDate(ctx context.Context, user *blog.User) (blog.DateTime, error) {
	user, err := r.whole(ctx, user)
	if err != nil {
		return "", err
	}
	return user.CreationDate, nil
}

// PostCount answers User.postCount, which a reference to a user lacks.
func (r userResolver) PostCount(ctx context.Context, user *blog.User) (int, error) {
	user, err := r.whole(ctx, user)
	if err != nil {
		return 0, err
	}
	return user.PostCount, nil
}

// Posts answers User.posts (Q3).
func (r userResolver) Posts(ctx context.Context, user *blog.User, first *int, after *string) (*model.PostConnection, error) {
	return connection(ctx, source[*blog.Post]{
		list:  model.UserPostsList(user.ID),
		pages: &scopeOf(ctx).pagesOfPosts,
		there: func(ctx context.Context) (bool, error) {
			_, err := r.whole(ctx, user)
			return !user.Deleted, err
		},
		read: func(ctx context.Context, page blog.PageRequest) (blog.Page[*blog.Post], error) {
			return r.store.UserPosts(ctx, user.ID, page)
		},
	}, first, after)
}

// whole gives the user behind a reference, read together with those of the same list. Error: NOT_FOUND.
func (r userResolver) whole(ctx context.Context, user *blog.User) (*blog.User, error) {
	if user.Loaded() {
		return user, nil
	}
	user, err := r.user(ctx, user.ID, siblingUsers(ctx))
	if err == nil && user == nil {
		err = blog.Errorf(blog.NotFound, "There is no such user.")
	}
	return user, err
}
