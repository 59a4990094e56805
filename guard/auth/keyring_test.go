package auth_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"cosmosblog/blog"
)

// edToken returns a valid token that names its key.
func edToken(t *testing.T, id string, key ed25519.PrivateKey) string {
	t.Helper()
	return sign(t, jwt.SigningMethodEdDSA, key, good(same), "kid", id)
}

// advance advances the bubble's clock, and waits until all other goroutines are blocked.
func advance(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestRotatedKeys(t *testing.T) {
	old, next := edKeys()[0], edKeys()[1]
	i := newIssuer(public("old", old.Public()))
	withIssuer(t, i, func(v verifier) {
		if !v.accepts(edToken(t, "old", old)) {
			t.Error("a token of the first key is rejected")
		}
		i.change(func(i *issuer) { i.keys = append(i.keys, public("next", next.Public())) })
		if !v.rejects(edToken(t, "next", next), blog.Unauthenticated, "a key that this server trusts") {
			t.Error("an unknown key caused a read within the minute")
		}
		advance(time.Minute)
		if !v.accepts(edToken(t, "next", next)) || !v.accepts(edToken(t, "old", old)) {
			t.Error("after a minute, a token of one of the two keys is rejected")
		}
		if count := i.requestCount(keysURL); count != 2 {
			t.Errorf("the keys were read %d times", count)
		}
	})
}

// TestUnknownKeysAreLookedUpOnceAMinute checks that tokens with invented keys cause one read
// per minute, however many there are.
func TestUnknownKeysAreLookedUpOnceAMinute(t *testing.T) {
	i := newIssuer(public("ed", edKeys()[0].Public()))
	withIssuer(t, i, func(v verifier) {
		for minute := range 5 {
			var all sync.WaitGroup
			for n := range 1000 {
				token := edToken(t, fmt.Sprintf("unknown-%d", n), edKeys()[1])
				all.Go(func() {
					if !v.rejects(token, blog.Unauthenticated, "a key that this server trusts") {
						t.Error("the token is not rejected with UNAUTHENTICATED")
					}
				})
				if n%100 == 0 {
					all.Wait() // some at once, some in sequence
				}
			}
			all.Wait()
			if count := i.requestCount(keysURL); count != 1+minute {
				t.Errorf("after minute %d, the keys were read %d times", minute, count)
			}
			advance(time.Minute)
		}
	})
}

// TestUnknownKeyDuringScheduledRead checks that the keys are read only once if an unknown key
// arrives at the time of a scheduled read.
func TestUnknownKeyDuringScheduledRead(t *testing.T) {
	i := newIssuer(public("ed", edKeys()[0].Public()))
	withIssuer(t, i, func(v verifier) {
		for hour := range 50 { // the order of the two is random
			time.Sleep(time.Hour)
			v.rejects(edToken(t, "unknown", edKeys()[1]), blog.Unauthenticated, "")
			synctest.Wait()
			if count := i.requestCount(keysURL); count != 2+hour {
				v.Fatalf("in hour %d, the keys were read %d times", hour, count)
			}
		}
	})
}

func TestRemovedKeysExpireWithTheirLifetime(t *testing.T) {
	for name, c := range map[string]struct {
		cacheControl string
		lifetime     time.Duration
	}{
		"no header":       {"", time.Hour},
		"ten minutes":     {"public, max-age=600", 10 * time.Minute},
		"a day":           {"max-age=86400", time.Hour},
		"a second":        {"max-age=1", 5 * time.Minute},
		"no-store":        {"no-store", 5 * time.Minute},
		"no number":       {"max-age=soon", time.Hour},
		"a large number":  {"max-age=99999999999999999999", time.Hour},
		"several headers": {"no-transform, must-revalidate , MAX-AGE=900", 15 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			i := newIssuer(public("a", edKeys()[0].Public()), public("b", edKeys()[1].Public()))
			withoutB := i.keys[:1]
			i.headers = http.Header{"Cache-Control": {c.cacheControl}}
			withIssuer(t, i, func(v verifier) {
				i.change(func(i *issuer) { i.keys = withoutB })
				advance(c.lifetime - time.Second)
				if !v.accepts(edToken(t, "b", edKeys()[1])) {
					t.Error("the removed key expired too early")
				}
				advance(time.Second)
				if !v.rejects(edToken(t, "b", edKeys()[1]), blog.Unauthenticated, "") || !v.accepts(edToken(t, "a", edKeys()[0])) {
					t.Error("the removed key is still accepted, or the other key is not")
				}
			})
		})
	}
}

// TestAllKeysRemoved checks that an empty key set withdraws all keys, and is not a read failure.
func TestAllKeysRemoved(t *testing.T) {
	i := newIssuer(public("a", edKeys()[0].Public()))
	withIssuer(t, i, func(v verifier) {
		i.change(func(i *issuer) { i.keys = []map[string]any{} })
		advance(time.Hour)
		if !v.rejects(edToken(t, "a", edKeys()[0]), blog.Unauthenticated, "") {
			t.Error("the removed key is still accepted")
		}
		if !strings.Contains(v.log.String(), "the issuer has no keys") {
			t.Errorf("the log: %s", v.log)
		}
	})
}

func TestIssuerIsDownAtTheStart(t *testing.T) {
	i := newIssuer(public("ed", edKeys()[0].Public()))
	i.isDown = true
	withIssuer(t, i, func(v verifier) {
		token := edToken(t, "ed", edKeys()[0])
		for range 1000 {
			began := time.Now()
			_, err := v.verify(token)
			known, _ := errors.AsType[*blog.Error](err)
			if known == nil || known.Code != blog.Internal || known.RetryAfter <= 0 || !strings.Contains(known.Message, "cannot be verified now") {
				v.Fatalf("got %v", err)
			}
			if time.Since(began) > 0 {
				v.Fatal("it waited, although no read was in progress")
			}
		}
		advance(10 * time.Minute)
		if count := i.requestCount(discoveryURL); count < 10 || count > 15 {
			t.Errorf("%d requests in ten minutes, want 10 to 15", count)
		}
		i.change(func(i *issuer) { i.isDown = false })
		advance(time.Minute)
		if !v.accepts(token) {
			t.Error("the token is rejected after the issuer recovered")
		}
		if log := v.log.String(); !strings.Contains(log, "could not be read") || !strings.Contains(log, "keys were read") {
			t.Errorf("the log: %s", log)
		}
	})
}

func TestKeysOutliveTheirIssuerForADay(t *testing.T) {
	i := newIssuer(public("ed", edKeys()[0].Public()))
	withIssuer(t, i, func(v verifier) {
		token := edToken(t, "ed", edKeys()[0])
		i.change(func(i *issuer) { i.isDown = true })
		advance(24*time.Hour - time.Second)
		if !v.accepts(token) {
			t.Error("the key expired within the day")
		}
		if !v.rejects(edToken(t, "next", edKeys()[1]), blog.Internal, "cannot be verified now") {
			t.Error("an unknown key is not rejected with INTERNAL while the issuer is down")
		}
		advance(time.Second)
		if !v.rejects(token, blog.Internal, "cannot be verified now") {
			t.Error("a key that was last read a day ago is accepted")
		}
		i.change(func(i *issuer) { i.isDown = false })
		advance(time.Minute)
		if !v.accepts(token) {
			t.Error("the token is rejected after the issuer recovered")
		}
	})
}

// TestRequestsShareARead checks that concurrent requests wait for the same read, each at most
// until its deadline.
func TestRequestsShareARead(t *testing.T) {
	i := newIssuer(public("ed", edKeys()[0].Public()))
	i.delay = 2 * time.Second // of each of the two documents
	withIssuer(t, i, func(v verifier) {
		token := edToken(t, "ed", edKeys()[0])
		began := time.Now()
		ctx, cancel := context.WithTimeout(v.Context(), time.Second)
		defer cancel()
		if _, err := v.issuer.Verify(ctx, token); blog.CodeOf(err) != blog.Internal || time.Since(began) != time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				if !v.accepts(token) || time.Since(began) != 4*time.Second {
					t.Errorf("rejected, or accepted after %v instead of 4s", time.Since(began))
				}
			})
		}
		all.Wait()
		if count := i.requestCount(keysURL); count != 1 {
			t.Errorf("the keys were read %d times", count)
		}
	})
}

func TestUnresponsiveIssuer(t *testing.T) {
	i := newIssuer()
	i.delay = time.Hour
	withIssuer(t, i, func(v verifier) {
		began := time.Now()
		if !v.rejects(edToken(t, "ed", edKeys()[0]), blog.Internal, "cannot be verified now") || time.Since(began) != 5*time.Second {
			t.Errorf("not rejected with INTERNAL, or after %v instead of 5s", time.Since(began))
		}
	})
}
