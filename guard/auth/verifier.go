package auth

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"cosmosblog/blog"
)

// Verifier verifies bearer tokens. Implementations may be used concurrently.
type Verifier interface {
	// Verify returns the account of a valid token. It returns a *blog.Error otherwise. The code is
	// UNAUTHENTICATED if the token is not valid: the message has advice, and the cause is for the
	// log. The code is INTERNAL, with a RetryAfter, if the token cannot be verified now.
	Verify(ctx context.Context, token string) (blog.Account, error)
}

// MaxSubjectLength is the maximum length of a subject in ASCII characters (OpenID Connect Core,
// section 2, "sub").
const MaxSubjectLength = 255

// validSubject reports whether subject has 1 to MaxSubjectLength printable ASCII characters.
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

// maxTokenBytes is several times the size of a token that lists hundreds of groups.
const maxTokenBytes = 16 << 10

// rules decide which tokens are valid, besides their keys.
type rules struct {
	parser   *jwt.Parser
	skew     time.Duration // the parser's tolerance of clocks
	issuedAt bool          // the parser checks iat
	advice   string        // how to get a valid token, for error messages
}

// checkLength rejects tokens that are too long to be read. advice is for the error message.
func checkLength(token, advice string) error {
	if len(token) > maxTokenBytes {
		return blog.Errorf(blog.Unauthenticated, "The token is longer than %d KiB. %s", maxTokenBytes>>10, advice)
	}
	return nil
}

// verify verifies a token with the key that keyOf returns for it. It parses the claims into a map,
// because in a struct an attacker's claim "Sub" would set the field of "sub".
func (r rules) verify(token string, keyOf jwt.Keyfunc) (verified, error) {
	claims := jwt.MapClaims{}
	_, err := r.parser.ParseWithClaims(token, claims, func(token *jwt.Token) (any, error) {
		if err := errors.Join(checkNames(token.Raw), checkHeader(token.Header)); err != nil {
			return nil, err
		}
		return keyOf(token)
	})
	if known, ok := errors.AsType[*blog.Error](err); ok {
		return verified{}, known
	}
	if err != nil {
		return verified{}, unauthenticated(err, r.advice)
	}
	issuer, _ := claims.GetIssuer() // the parser has checked it
	subject, err := claims.GetSubject()
	if err != nil || !validSubject(subject) {
		return verified{}, unauthenticated(errors.New("no usable subject"), r.advice)
	}
	if err := checkDates(claims); err != nil {
		return verified{}, unauthenticated(err, r.advice)
	}
	from, until := validity(claims, r.skew, r.issuedAt)
	return verified{blog.Account{Issuer: issuer, Subject: subject}, from, until}, nil
}

// maxDate is the last second of the year 9999, in seconds since 1970.
const maxDate = 253402300799

// checkDates rejects claims whose exp, nbf or iat is no date from 1970 to 9999. The parser would
// take the number 1e300 for some other time, because it does not fit in 64 bits. Fractions of
// seconds are valid (RFC 7519, section 2, "NumericDate": "non-integer values can be represented"),
// and the values must be numbers (sections 4.1.4 to 4.1.6).
func checkDates(claims jwt.MapClaims) error {
	for _, name := range []string{"exp", "nbf", "iat"} {
		value, given := claims[name]
		if date, ok := value.(float64); given && (!ok || date < 0 || date > maxDate) {
			return errors.New("the claim " + name + " is no date from 1970 to 9999")
		}
	}
	return nil
}

// tokenTypes are the accepted values of the header typ, without the prefix "application/" (RFC
// 7519, section 5.1, and RFC 9068, section 2.1). Issuers sign tokens of other types, such as
// logout tokens, with the same keys for other purposes.
var tokenTypes = []string{"jwt", "at+jwt"}

// checkHeader rejects critical extensions, because this package implements none (RFC 7515,
// section 4.1.11), and tokens of other types.
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

// unauthenticated returns the client's error for a cause. The message never repeats content of
// the token.
func unauthenticated(cause error, advice string) *blog.Error {
	message := "The token is not valid."
	switch {
	case errors.Is(cause, errDuplicateName):
		message = "The token repeats a name in its header or its claims."
	case errors.Is(cause, jwt.ErrTokenExpired):
		message = "The token has expired."
	case errors.Is(cause, jwt.ErrTokenNotValidYet), errors.Is(cause, jwt.ErrTokenUsedBeforeIssued):
		message = "The token is not valid yet."
	case errors.Is(cause, jwt.ErrTokenMalformed):
		message = "The token is not a JSON Web Token."
		cause = jwt.ErrTokenMalformed // the decoder's error quotes the token, and causes are logged
	case errors.Is(cause, jwt.ErrTokenInvalidIssuer):
		message = "The token comes from another issuer."
	case errors.Is(cause, jwt.ErrTokenSignatureInvalid), errors.Is(cause, jwt.ErrTokenUnverifiable):
		message = "The token was not signed with a key that this server trusts."
	case errors.Is(cause, jwt.ErrTokenInvalidAudience):
		message = "The token is for another audience."
	case errors.Is(cause, jwt.ErrTokenRequiredClaimMissing):
		message = "The token lacks a claim that this server requires."
	}
	return &blog.Error{Code: blog.Unauthenticated, Message: message + " " + advice, Err: cause}
}
