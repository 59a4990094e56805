package auth

import (
	"context"
	"errors"

	"github.com/golang-jwt/jwt/v5"

	"cosmosblog/internal/blog"
)

// Verifier tells which account a bearer token speaks for. Error: a *blog.Error UNAUTHENTICATED, whose message says what
// to do and whose cause is for the log. Implementations may be used concurrently.
type Verifier interface {
	Verify(ctx context.Context, token string) (blog.Account, error)
}

// MaxSubjectLength is what OpenID Connect Core (section 2, "sub") allows a subject: 255 ASCII characters.
const MaxSubjectLength = 255

// validSubject holds for a printable ASCII text of 1 to MaxSubjectLength characters.
func validSubject(subject string) bool {
	if subject == "" || len(subject) > MaxSubjectLength {
		return false
	}
	for i := 0; i < len(subject); i++ {
		if subject[i] < ' ' || subject[i] > '~' {
			return false
		}
	}
	return true
}

// unauthenticated words a failure for the client: what is wrong with the token, never anything that it holds.
func unauthenticated(cause error, advice string) *blog.Error {
	message := "The token is not valid."
	switch {
	case errors.Is(cause, jwt.ErrTokenExpired):
		message = "The token has expired."
	case errors.Is(cause, jwt.ErrTokenNotValidYet):
		message = "The token is not valid yet."
	case errors.Is(cause, jwt.ErrTokenMalformed):
		message = "The token is not a JSON Web Token."
	case errors.Is(cause, jwt.ErrTokenSignatureInvalid), errors.Is(cause, jwt.ErrTokenUnverifiable):
		message = "The token was not signed with a key that this server trusts."
	case errors.Is(cause, jwt.ErrTokenInvalidIssuer):
		message = "The token comes from another issuer."
	case errors.Is(cause, jwt.ErrTokenRequiredClaimMissing):
		message = "The token lacks a claim that this server asks for."
	}
	return &blog.Error{Code: blog.Unauthenticated, Message: message + " " + advice, Err: cause}
}
