package auth

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"cosmosblog/blog"
)

// IssuerOptions configure an Issuer. Issuer and Audience are required.
type IssuerOptions struct {
	// Issuer is the exact value of the claim iss, and the URL of the issuer: https, or http on
	// loopback.
	Issuer string
	// Audience must be the claim aud, or one of its values.
	Audience string
	// Transport sends the requests for the issuer's documents. If nil, the Issuer creates its own.
	Transport http.RoundTripper
	// Logger logs when reading the keys fails, and when it succeeds again. If nil, slog's default.
	Logger *slog.Logger
}

// tokenAlgorithms are the accepted signatures. Issuers sign with RS256 by default, which OpenID
// Connect requires of them, or with one of the others. All are asymmetric, so the keys that
// verify a token cannot sign one (RFC 7518, section 3.1, and RFC 8037).
var tokenAlgorithms = []string{"RS256", "PS256", "ES256", "EdDSA"}

// clockSkew is the accepted difference between the issuer's clock and this machine's.
// Synchronized clocks differ by much less, and tokens live much longer.
const clockSkew = 30 * time.Second

// Issuer verifies the tokens of an OpenID Connect issuer. It needs Run, which reads the
// issuer's keys. It may be used concurrently.
type Issuer struct {
	name   string
	rules  rules
	keys   *keyring
	tokens remembered
	issuer *discovery
}

var _ Verifier = (*Issuer)(nil)

// NewIssuer returns the verifier of an issuer's tokens. It verifies no token before Run.
func NewIssuer(options IssuerOptions) *Issuer {
	if options.Logger == nil {
		options.Logger = slog.Default()
	}
	if options.Transport == nil {
		options.Transport = newTransport()
	}
	d := newDiscovery(options)
	return &Issuer{
		name:   options.Issuer,
		issuer: d,
		keys:   newKeyring(d.read, options.Logger),
		rules: rules{
			parser: jwt.NewParser(
				jwt.WithValidMethods(tokenAlgorithms),
				jwt.WithIssuer(options.Issuer),
				jwt.WithAudience(options.Audience),
				jwt.WithExpirationRequired(),
				jwt.WithIssuedAt(),
				jwt.WithLeeway(clockSkew),
				jwt.WithStrictDecoding(),
			),
			skew:     clockSkew,
			issuedAt: true,
			advice:   issuerAdvice,
		},
	}
}

// Run reads the issuer's keys now and repeatedly, until ctx ends. It returns the error of ctx.
// If the issuer does not respond, or responds with something invalid, Run logs that and
// retries. The last keys remain valid for a day.
func (i *Issuer) Run(ctx context.Context) error { return i.keys.run(ctx) }

// Origins returns the origins to which a page must connect to sign people in: those of the issuer's
// document and, once it was read, of its token endpoint.
func (i *Issuer) Origins() []string {
	origins := []string{originOf(i.name)}
	if tokens := i.issuer.tokenOrigin.Load(); tokens != nil && *tokens != origins[0] {
		origins = append(origins, *tokens)
	}
	return origins
}

const issuerAdvice = "Get a token from this server's issuer, for this server's audience."

// Verify verifies a token of the issuer. If the token's key is unknown, Verify waits until the
// keys are read again, or until ctx ends. It remembers valid tokens until they expire or the keys
// are read again. See Verifier.
func (i *Issuer) Verify(ctx context.Context, token string) (blog.Account, error) {
	if err := checkLength(token, issuerAdvice); err != nil {
		return blog.Account{}, err
	}
	hash := hashOf(token)
	keys, known := i.keys.current()
	if known {
		if account, ok := i.tokens.find(hash, keys, time.Now()); ok {
			return account, nil
		}
	}
	v, err := i.rules.verify(token, func(token *jwt.Token) (any, error) { return i.keyOf(ctx, token) })
	if err == nil && known {
		i.tokens.add(hash, keys, v)
	}
	return v.account, err
}

// keyOf returns the keys that can have signed a token. It looks up no key for a token of another
// issuer.
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
