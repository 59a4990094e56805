package resolvers

import (
	"context"

	"cosmosblog/internal/auth"
	"cosmosblog/internal/blog"
)

// viewer gives the user of the request's account; nil where nobody is signed in, or the account has no user yet.
func (r *Resolver) viewer(ctx context.Context) (*blog.User, error) {
	account, ok := auth.AccountFrom(ctx)
	if !ok {
		return nil, nil
	}
	return r.user(ctx, account.UserID(), nil)
}

// account gives the request's account. Error: UNAUTHENTICATED.
func account(ctx context.Context) (blog.Account, error) {
	account, ok := auth.AccountFrom(ctx)
	if !ok {
		return account, errSignIn
	}
	return account, nil
}

// signedIn gives the viewer to a mutation. Errors: UNAUTHENTICATED, FORBIDDEN for an account without a user.
func (r *Resolver) signedIn(ctx context.Context) (*blog.User, error) {
	if _, err := account(ctx); err != nil {
		return nil, err
	}
	viewer, err := r.viewer(ctx)
	if err != nil {
		return nil, err
	}
	if viewer == nil {
		return nil, errNoUser
	}
	return viewer, nil
}

var (
	errSignIn = blog.Errorf(blog.Unauthenticated, "Sign in first: send the header `Authorization: Bearer` with a token.")
	errNoUser = blog.Errorf(blog.Forbidden, "Your account has no user yet: make one with the mutation `createUser`.")
)
