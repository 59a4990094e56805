package auth

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"cosmosblog/internal/blog"
)

// IssuerOptions say whose tokens are taken, and which. Issuer, Audience and Algorithms are required.
type IssuerOptions struct {
	// Issuer is what the claim iss has to be, to the letter, and where the issuer's document is: an https URL, or http
	// on loopback.
	Issuer string
	// Audience has to be the claim aud, or in it.
	Audience string
	// Algorithms may sign tokens. A symmetric one, or none, has no effect: there is no key for it.
	Algorithms []string
	// Skew is how far the issuer's clock may be from this machine's.
	Skew time.Duration
	// Transport reads the issuer's documents: one of its own where nil.
	Transport http.RoundTripper
	// Logger is told when the keys can no longer be read, and when they can again; slog's default where nil.
	Logger *slog.Logger
}

// Issuer takes the tokens of an OpenID Connect issuer. It verifies while Run runs, which reads the issuer's keys. It may
// be used concurrently.
type Issuer struct {
	name   string
	parser *jwt.Parser
	keys   *keyring
}

var _ Verifier = (*Issuer)(nil)

// NewIssuer makes the verifier of an issuer's tokens.
func NewIssuer(options IssuerOptions) *Issuer {
	if options.Logger == nil {
		options.Logger = slog.Default()
	}
	if options.Transport == nil {
		options.Transport = newTransport()
	}
	return &Issuer{
		name: options.Issuer,
		keys: newKeyring(newDiscovery(options).read, options.Logger),
		parser: jwt.NewParser(
			jwt.WithValidMethods(options.Algorithms),
			jwt.WithIssuer(options.Issuer),
			jwt.WithAudience(options.Audience),
			jwt.WithExpirationRequired(),
			jwt.WithIssuedAt(),
			jwt.WithLeeway(options.Skew),
			jwt.WithStrictDecoding(),
		),
	}
}

// Run reads the issuer's keys, at once and again and again, until ctx ends, whose error it gives. An issuer that is down
// or lies is logged and asked again later: meanwhile its keys stay what they were, for a day.
func (i *Issuer) Run(ctx context.Context) error { return i.keys.run(ctx) }

const issuerAdvice = "Get one from this server's issuer, for its audience."

// Verify takes a token of the issuer. Where its key is not known yet, it waits for the keys to be read, as long as ctx
// allows. See Verifier.
func (i *Issuer) Verify(ctx context.Context, token string) (blog.Account, error) {
	keyOf := func(token *jwt.Token) (any, error) { return i.keyOf(ctx, token) }
	return verify(token, i.parser, keyOf, issuerAdvice)
}

// keyOf finds the keys that a token may be signed with. A token that says itself that it is somebody else's is not looked
// up.
func (i *Issuer) keyOf(ctx context.Context, token *jwt.Token) (any, error) {
	if issuer, err := token.Claims.GetIssuer(); err != nil || issuer != i.name {
		return nil, jwt.ErrTokenInvalidIssuer
	}
	id, isText := token.Header["kid"].(string)
	if _, given := token.Header["kid"]; given && !isText {
		return nil, errUnknownKey
	}
	keys, err := i.keys.find(ctx, id, token.Method.Alg())
	return jwt.VerificationKeySet{Keys: keys}, err
}
