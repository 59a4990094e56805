package auth

import (
	"context"

	"cosmosblog/blog"
)

type accountKey struct{}

// WithAccount returns a context that carries the account of a request.
func WithAccount(ctx context.Context, account blog.Account) context.Context {
	return context.WithValue(ctx, accountKey{}, account)
}

// AccountFrom returns the account of a request, or false if the request is anonymous.
func AccountFrom(ctx context.Context) (blog.Account, bool) {
	account, ok := ctx.Value(accountKey{}).(blog.Account)
	return account, ok
}
