package resolvers

import (
	"context"
	"errors"

	"cosmosblog/internal/auth"
	"cosmosblog/internal/blog"
	"cosmosblog/store"
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
		return nil, r.noViewer(ctx)
	}
	return viewer, nil
}

// noViewer tells why an account has no user. Only who is refused pays for the read.
func (r *Resolver) noViewer(ctx context.Context) error {
	account, err := account(ctx)
	if err == nil {
		_, err = r.store.User(ctx, account.UserID())
	}
	if err == nil {
		return errNoUser // until a moment ago
	}
	return forbidden(err)
}

// forbidden gives an error of a command that found no user of the account as the API tells it.
func forbidden(err error) error {
	switch {
	case errors.Is(err, store.ErrBeingDeleted):
		return errBeingDeleted
	case blog.CodeOf(err) == blog.NotFound:
		return errNoUser
	}
	return err
}

var (
	errSignIn = blog.Errorf(blog.Unauthenticated, "Sign in first: send the header `Authorization: Bearer` with a token.")
	errNoUser = blog.Errorf(blog.Forbidden, "Your account has no user yet: make one with the mutation `createUser`.")

	errBeingDeleted = blog.Errorf(blog.Forbidden, "Your account's user is being deleted. In a minute you can make a new one with the mutation `createUser`.")
)
