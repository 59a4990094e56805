package auth_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"cosmosblog/blog"
	"cosmosblog/guard/auth"
)

// maxRememberedAllocs is far below the allocations of a verification, which are more than 80.
const maxRememberedAllocs = 5

// isRemembered reports whether verifying a valid token again costs less than its first time.
func isRemembered(t *testing.T, v auth.Verifier, token string) bool {
	t.Helper()
	verify := func() {
		if _, err := v.Verify(t.Context(), token); err != nil {
			t.Error(err)
		}
	}
	return testing.AllocsPerRun(3, verify) <= maxRememberedAllocs
}

func TestWithdrawnKeyForgetsItsTokens(t *testing.T) {
	i := newIssuer(public("a", edKeys()[0].Public()), public("b", edKeys()[1].Public()))
	withIssuer(t, i, func(v verifier) {
		a, b := edToken(t, "a", edKeys()[0]), edToken(t, "b", edKeys()[1])
		if !v.accepts(a) || !v.accepts(b) || !isRemembered(t, v.issuer, a) || !isRemembered(t, v.issuer, b) {
			t.Error("a valid token is rejected, or is not remembered")
		}
		i.change(func(i *issuer) { i.keys = i.keys[:1] })
		advance(maxLifetime)
		if !v.rejects(b, blog.Unauthenticated, "a key that this server trusts") {
			t.Error("the token of a withdrawn key is accepted")
		}
		if !v.accepts(a) || !isRemembered(t, v.issuer, a) {
			t.Error("the token of the other key is rejected, or is not remembered")
		}
		if !v.rejects(b, blog.Unauthenticated, "a key that this server trusts") {
			t.Error("the token of a withdrawn key is accepted later")
		}
	})
}

// maxLifetime is the time after which the keys are read again.
const maxLifetime = time.Hour

func TestReplacedKeyForgetsItsTokens(t *testing.T) {
	i := newIssuer(public("a", edKeys()[0].Public()))
	withIssuer(t, i, func(v verifier) {
		token := edToken(t, "a", edKeys()[0])
		if !v.accepts(token) {
			t.Error("a valid token is rejected")
		}
		i.change(func(i *issuer) { i.keys = []map[string]any{public("a", edKeys()[1].Public())} })
		advance(maxLifetime)
		if !v.rejects(token, blog.Unauthenticated, "a key that this server trusts") {
			t.Error("a token is accepted although its key id names another key now")
		}
	})
}

// TestRememberedTokensExpireWithTheKeys checks that remembered tokens live no longer than the keys
// of an issuer that does not respond.
func TestRememberedTokensExpireWithTheKeys(t *testing.T) {
	i := newIssuer(public("a", edKeys()[0].Public()))
	withIssuer(t, i, func(v verifier) {
		token := edToken(t, "a", edKeys()[0])
		i.change(func(i *issuer) { i.isDown = true })
		advance(24*time.Hour - time.Second)
		if !v.accepts(token) || !isRemembered(t, v.issuer, token) {
			t.Error("the token is rejected within a day, or is not remembered")
		}
		advance(time.Second)
		if !v.rejects(token, blog.Internal, "could not be read") {
			t.Error("the token is accepted with keys that are a day old")
		}
	})
}

func TestRememberedTokensExpire(t *testing.T) {
	withIssuer(t, newIssuer(allKeys()...), func(v verifier) {
		token := signed(t, func(c jwt.MapClaims) { c["exp"] = time.Now().Add(time.Minute).Unix() })
		if !v.accepts(token) || !isRemembered(t, v.issuer, token) {
			t.Error("the token is rejected, or is not remembered")
		}
		advance(time.Minute + 29*time.Second) // the accepted difference of clocks is 30 s
		if !v.accepts(token) {
			t.Error("the token is rejected too early")
		}
		advance(time.Second)
		if !v.rejects(token, blog.Unauthenticated, "The token has expired") {
			t.Error("an expired token is accepted")
		}
	})
}

// TestRememberedTokensFollowTheClock sets the clock to before a remembered token's nbf, and after
// its exp.
func TestRememberedTokensFollowTheClock(t *testing.T) {
	folder := t.TempDir()
	key, clock := openKey(t, folder), now
	key.Now = func() time.Time { return clock }
	token, err := key.Token("anna", now, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	begun := sign(t, jwt.SigningMethodEdDSA, privateKey(t, folder), claims(func(c jwt.MapClaims) { c["nbf"] = now.Unix() }))
	for _, c := range []struct {
		at           time.Duration
		token, begun string // a part of the error, empty if the token is valid
	}{
		{0, "", ""}, {-time.Second, "", "not valid yet"}, {time.Hour - time.Second, "", ""},
		{time.Hour, "has expired", "has expired"}, {0, "", ""},
	} {
		clock = now.Add(c.at)
		checkVerify(t, key, token, c.token)
		checkVerify(t, key, begun, c.begun)
	}
}

// TestSimilarTokens checks that only the exact text of a remembered token is accepted.
func TestSimilarTokens(t *testing.T) {
	key := openKey(t, t.TempDir())
	token, err := key.Token("anna", now, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	checkVerify(t, key, token, "")
	for n := range len(token) {
		other := byte('A')
		if token[n] == other {
			other = 'B'
		}
		checkVerify(t, key, token[:n]+string(other)+token[n+1:], "The token")
		checkVerify(t, key, token[:n], "The token")
	}
	checkVerify(t, key, token+"A", "The token")
	if !isRemembered(t, key, token) {
		t.Error("the token is not remembered")
	}
	checkVerify(t, openKey(t, t.TempDir()), token, "The token") // as after the key's file was replaced
}

// TestConcurrentTokens verifies the tokens of many accounts at once, with a clock at which some
// have expired.
func TestConcurrentTokens(t *testing.T) {
	key := openKey(t, t.TempDir())
	var tokens []string
	for n := range 40 {
		token, err := key.Token(fmt.Sprint("user-", n), now.Add(-time.Hour), time.Duration(n)*2*time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		tokens = append(tokens, token)
	}
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for i := range 200 {
				n := (i*7 + worker) % len(tokens)
				account, err := key.Verify(context.Background(), tokens[n])
				if n <= 30 && err == nil || n > 30 && (err != nil || account.Subject != fmt.Sprint("user-", n)) {
					t.Errorf("token %d: got %v, %v", n, account, err)
				}
			}
		})
	}
	all.Wait()
}

func checkVerify(t *testing.T, v auth.Verifier, token, want string) {
	t.Helper()
	account, err := v.Verify(t.Context(), token)
	if want == "" && (err != nil || account.Subject != "anna") {
		t.Errorf("got %v, %v", account, err)
	}
	if want != "" && (err == nil || account != (blog.Account{}) || !strings.Contains(err.Error(), want)) {
		t.Errorf("%.200s: got %v, %v, want %q", token, account, err, want)
	}
}
