package apitest

import (
	"context"

	"cosmosblog/blog"
)

// Subjects is a verifier that accepts every token and uses it as the subject.
type Subjects struct{}

// Verify implements auth.Verifier. It never fails.
func (Subjects) Verify(_ context.Context, token string) (blog.Account, error) {
	return blog.Account{Issuer: "test", Subject: token}, nil
}
