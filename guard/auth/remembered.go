package auth

import (
	"crypto/sha256"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"cosmosblog/blog"
)

// maxRemembered is the maximum number of remembered tokens. Each takes about 400 bytes, with a
// subject of the usual length, so all take 4 MB.
const maxRemembered = 10_000

// tokenHash is the SHA-256 of a token. The time to find one in a map shows nothing about other
// tokens, because nobody can choose the beginning of a hash.
type tokenHash [sha256.Size]byte

func hashOf(token string) tokenHash { return sha256.Sum256([]byte(token)) }

// verified is the account of a verified token, and the time for which its claims are valid.
type verified struct {
	account     blog.Account
	from, until time.Time // from is included, until is not; if from is zero, there is no beginning
}

func (v verified) isValid(now time.Time) bool { return !now.Before(v.from) && now.Before(v.until) }

// validity returns the time for which claims are valid, with the parser's tolerance of clocks. The
// parser has required exp. It checks iat only if issuedAt is true.
func validity(claims jwt.MapClaims, skew time.Duration, issuedAt bool) (from, until time.Time) {
	if expires, err := claims.GetExpirationTime(); err == nil && expires != nil {
		until = expires.Add(skew)
	}
	if begins, err := claims.GetNotBefore(); err == nil && begins != nil {
		from = begins.Add(-skew)
	}
	if issued, err := claims.GetIssuedAt(); issuedAt && err == nil && issued != nil && issued.Add(-skew).After(from) {
		from = issued.Add(-skew)
	}
	return from, until
}

// ExpiryOf returns the time at which a token expires, or zero if it has none. It does not verify
// the token.
func ExpiryOf(token string) time.Time {
	claims := jwt.MapClaims{}
	if _, _, err := jwt.NewParser().ParseUnverified(token, claims); err != nil {
		return time.Time{}
	}
	expires, err := claims.GetExpirationTime()
	if err != nil || expires == nil {
		return time.Time{}
	}
	return expires.Time
}

// remembered holds verified tokens, by their hash, so that a client's next request needs no
// signature. It may be used concurrently.
//
// It holds no rejected tokens, because anyone could fill its memory with them.
type remembered struct {
	mu       sync.RWMutex
	accounts map[tokenHash]verified
	keys     int // the number of the key set that verified them
}

// find returns the account of a token that a set of keys has verified, if its claims are valid now.
// Otherwise, the token must be verified.
func (r *remembered) find(token tokenHash, keys int, now time.Time) (blog.Account, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	v, known := r.accounts[token]
	if !known || r.keys != keys || !v.isValid(now) {
		return blog.Account{}, false
	}
	return v.account, true
}

// add remembers a token that a set of keys has verified. A newer set removes all tokens of the sets
// before, so the tokens of withdrawn keys go with them. If there are maxRemembered tokens, a random
// one is removed.
func (r *remembered) add(token tokenHash, keys int, v verified) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case keys < r.keys:
		return // the keys have been read since the verification began
	case keys > r.keys || r.accounts == nil:
		r.accounts, r.keys = map[tokenHash]verified{}, keys
	}
	if _, known := r.accounts[token]; !known && len(r.accounts) >= maxRemembered {
		for other := range r.accounts {
			delete(r.accounts, other)
			break
		}
	}
	r.accounts[token] = v
}
