package auth

import (
	"context"

	"cosmosblog/internal/blog"
)

// Nobody is the Verifier of a server that has no issuer of tokens: it takes none.
type Nobody struct{}

var _ Verifier = Nobody{}

// Verify refuses the token. See Verifier.
func (Nobody) Verify(context.Context, string) (blog.Account, error) {
	return blog.Account{}, blog.Errorf(blog.Unauthenticated, "Nobody can sign in here: this server has no issuer of tokens configured.")
}
