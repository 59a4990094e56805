package auth

import (
	"context"

	"cosmosblog/internal/blog"
)

type accountKey struct{}

// WithAccount gives a context of a request made by the account.
func WithAccount(ctx context.Context, account blog.Account) context.Context {
	return context.WithValue(ctx, accountKey{}, account)
}

// AccountFrom gives the account that makes the request; false for an anonymous one.
func AccountFrom(ctx context.Context) (blog.Account, bool) {
	account, ok := ctx.Value(accountKey{}).(blog.Account)
	return account, ok
}
