package auth

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/golang-jwt/jwt/v5"

	"cosmosblog/internal/blog"
)

// Verifier tells which account a bearer token speaks for. Errors: a *blog.Error UNAUTHENTICATED, whose message says what
// to do and whose cause is for the log; INTERNAL with a RetryAfter where nobody can tell at the moment. Implementations
// may be used concurrently.
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

// maxTokenBytes is several times what issuers make of a person with hundreds of groups.
const maxTokenBytes = 16 << 10

// verify takes a token that the parser allows and that is signed with the key that keyOf finds for it. advice is for
// whoever shows another one. The claims are read into a map: in a struct, a claim "Sub" of somebody's choice would stand
// for "sub".
func verify(token string, parser *jwt.Parser, keyOf jwt.Keyfunc, advice string) (blog.Account, error) {
	if len(token) > maxTokenBytes {
		return blog.Account{}, blog.Errorf(blog.Unauthenticated, "The token is longer than %d KiB. %s", maxTokenBytes>>10, advice)
	}
	claims := jwt.MapClaims{}
	_, err := parser.ParseWithClaims(token, claims, func(token *jwt.Token) (any, error) {
		if err := checkHeader(token.Header); err != nil {
			return nil, err
		}
		return keyOf(token)
	})
	if known, ok := errors.AsType[*blog.Error](err); ok {
		return blog.Account{}, known
	}
	if err != nil {
		return blog.Account{}, unauthenticated(err, advice)
	}
	issuer, _ := claims.GetIssuer() // the parser saw to it
	subject, err := claims.GetSubject()
	if err != nil || !validSubject(subject) {
		return blog.Account{}, unauthenticated(errors.New("no usable subject"), advice)
	}
	return blog.Account{Issuer: issuer, Subject: subject}, nil
}

// tokenTypes are the kinds of token that may speak for somebody, without "application/" before them: RFC 7519, section
// 5.1, and RFC 9068, section 2.1. Others, such as those of a logout, are signed by the same issuer for other ends.
var tokenTypes = []string{"jwt", "at+jwt"}

// checkHeader refuses critical extensions, none of which we know (RFC 7515, section 4.1.11), and tokens of other kinds.
func checkHeader(header map[string]any) error {
	if _, critical := header["crit"]; critical {
		return errors.New("the token has critical extensions")
	}
	kind, given := header["typ"]
	if !given {
		return nil
	}
	name, _ := kind.(string)
	if !slices.Contains(tokenTypes, strings.TrimPrefix(strings.ToLower(name), "application/")) {
		return errors.New("the token is of another type")
	}
	return nil
}

// unauthenticated words a failure for the client: what is wrong with the token, never anything that it holds.
func unauthenticated(cause error, advice string) *blog.Error {
	message := "The token is not valid."
	switch {
	case errors.Is(cause, jwt.ErrTokenExpired):
		message = "The token has expired."
	case errors.Is(cause, jwt.ErrTokenNotValidYet), errors.Is(cause, jwt.ErrTokenUsedBeforeIssued):
		message = "The token is not valid yet."
	case errors.Is(cause, jwt.ErrTokenMalformed):
		message = "The token is not a JSON Web Token."
		cause = jwt.ErrTokenMalformed // what decodes it repeats a part of it, and causes are logged
	case errors.Is(cause, jwt.ErrTokenInvalidIssuer):
		message = "The token comes from another issuer."
	case errors.Is(cause, jwt.ErrTokenSignatureInvalid), errors.Is(cause, jwt.ErrTokenUnverifiable):
		message = "The token was not signed with a key that this server trusts."
	case errors.Is(cause, jwt.ErrTokenInvalidAudience):
		message = "The token is for another audience."
	case errors.Is(cause, jwt.ErrTokenRequiredClaimMissing):
		message = "The token lacks a claim that this server asks for."
	}
	return &blog.Error{Code: blog.Unauthenticated, Message: message + " " + advice, Err: cause}
}
