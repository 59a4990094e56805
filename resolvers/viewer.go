package resolvers

import (
	"context"
	"errors"

	"cosmosblog/blog"
	"cosmosblog/guard/request"
	"cosmosblog/store"
)

// requireAccount returns the account of the request. Error: UNAUTHENTICATED.
func requireAccount(ctx context.Context) (blog.Account, error) {
	account := request.Of(ctx).Account
	if account == nil {
		return blog.Account{}, errUnauthenticated
	}
	return *account, nil
}

// requireViewer returns the user who sends a mutation, by one point read. The payload's fields
// reuse that user. Errors: UNAUTHENTICATED; USER_REQUIRED if the account has no user;
// DELETION_UNDER_WAY.
func (r *Resolver) requireViewer(ctx context.Context) (viewer *blog.User, err error) {
	account, err := requireAccount(ctx)
	if err != nil {
		return nil, err
	}
	id, scope := account.UserID(), scopeFrom(ctx)
	err = scope.read(ctx, 1, func() (int, error) {
		users, err := r.store.Users(ctx, []string{id})
		viewer = users[id]
		return 0, err
	})
	switch {
	case err != nil:
		return nil, err
	case viewer == nil:
		// The read may be older than the user's creation, and does not show why there is no user.
		if viewer, err = r.store.CurrentUser(ctx, id); err != nil {
			return nil, asUserRequired(err)
		}
	}
	scope.users.put(id, viewer)
	return viewer, nil
}

// requireViewerFor is requireViewer for a mutation of one item, whose id an input field has. It
// also returns BAD_USER_INPUT if the id does not have the wanted type.
func (r *Resolver) requireViewerFor(ctx context.Context, field string, id blog.Ref, want blog.Type) (*blog.User, error) {
	viewer, err := r.requireViewer(ctx)
	if err != nil {
		return nil, err
	}
	return viewer, checkType(field, id, want)
}

// asUserRequired turns an error for the missing user of an account into USER_REQUIRED, or
// DELETION_UNDER_WAY. It returns other errors unchanged.
func asUserRequired(err error) error {
	switch {
	case errors.Is(err, store.ErrBeingDeleted):
		return errViewerBeingDeleted
	case blog.CodeOf(err) == blog.NotFound:
		return errNoUser
	}
	return err
}

var (
	errUnauthenticated = blog.Errorf(blog.Unauthenticated,
		"You are not signed in. Send a token in the header `Authorization: Bearer <token>`.")
	errNoUser = blog.Errorf(blog.UserRequired,
		"Your account has no user yet. Create one with the mutation `createUser`.")
	errViewerBeingDeleted = blog.Errorf(blog.DeletionUnderWay,
		"The user of your account is being deleted. In about a minute, you can create a new one with the mutation `createUser`.")
)
