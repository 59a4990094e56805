package auth

import (
	"context"

	"cosmosblog/blog"
)

// NoIssuer is the Verifier of a production server without an issuer. It rejects every token.
type NoIssuer struct{}

var _ Verifier = NoIssuer{}

// Verify rejects the token with UNAUTHENTICATED.
func (NoIssuer) Verify(context.Context, string) (blog.Account, error) {
	return blog.Account{}, blog.Errorf(blog.Unauthenticated,
		"This server does not accept tokens, because no issuer is configured. To read, omit the `Authorization` header.")
}
