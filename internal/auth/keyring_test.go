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

	"cosmosblog/internal/blog"
)

// edToken is a good token that names its key.
func edToken(t *testing.T, id string, key ed25519.PrivateKey) string {
	t.Helper()
	return sign(t, jwt.SigningMethodEdDSA, key, good(same), "kid", id)
}

// after lets time pass, and what is due in it happen.
func after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestRotatedKeysAreFound(t *testing.T) {
	old, next := edKeys()[0], edKeys()[1]
	i := newIssuer(public("old", old.Public()))
	withIssuer(t, i, func(v verifier) {
		if !v.takes(edToken(t, "old", old)) {
			t.Error("the first key is not taken")
		}
		i.change(func(i *issuer) { i.keys = append(i.keys, public("next", next.Public())) })
		if !v.refuses(edToken(t, "next", next), blog.Unauthenticated, "a key that this server trusts") {
			t.Error("a key that is not known was looked up within the minute")
		}
		after(time.Minute)
		if !v.takes(edToken(t, "next", next)) || !v.takes(edToken(t, "old", old)) {
			t.Error("after a minute, the next key is not taken beside the first")
		}
		if asked := i.asked(keysPlace); asked != 2 {
			t.Errorf("the keys were read %d times", asked)
		}
	})
}

// Whoever shows keys that do not exist makes the server ask its issuer once a minute, alone or with others.
func TestUnknownKeysAreLookedUpOnceAMinute(t *testing.T) {
	i := newIssuer(public("ed", edKeys()[0].Public()))
	withIssuer(t, i, func(v verifier) {
		for minute := range 5 {
			var all sync.WaitGroup
			for n := range 1000 {
				token := edToken(t, fmt.Sprintf("unknown-%d", n), edKeys()[1])
				all.Go(func() {
					if !v.refuses(token, blog.Unauthenticated, "a key that this server trusts") {
						t.Error("taken, or not refused as it should be")
					}
				})
				if n%100 == 0 {
					all.Wait() // some at once, some one after the other
				}
			}
			all.Wait()
			if asked := i.asked(keysPlace); asked != 1+minute {
				t.Errorf("after minute %d, the keys were read %d times", minute, asked)
			}
			after(time.Minute)
		}
	})
}

// When somebody shows an unknown key at the moment at which the keys are read anyway, they are read once.
func TestUnknownKeyAtTheHour(t *testing.T) {
	i := newIssuer(public("ed", edKeys()[0].Public()))
	withIssuer(t, i, func(v verifier) {
		for hour := range 50 { // who is first at each of them is chance
			time.Sleep(time.Hour)
			v.refuses(edToken(t, "unknown", edKeys()[1]), blog.Unauthenticated, "")
			synctest.Wait()
			if asked := i.asked(keysPlace); asked != 2+hour {
				v.Fatalf("in hour %d, the keys were read %d times", hour, asked)
			}
		}
	})
}

func TestRemovedKeysStopWithTheNextReading(t *testing.T) {
	for name, c := range map[string]struct {
		cacheControl string
		lifetime     time.Duration
	}{
		"without a word":  {"", time.Hour},
		"a while":         {"public, max-age=600", 10 * time.Minute},
		"a day":           {"max-age=86400", time.Hour},
		"a second":        {"max-age=1", 5 * time.Minute},
		"not at all":      {"no-store", 5 * time.Minute},
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
				after(c.lifetime - time.Second)
				if !v.takes(edToken(t, "b", edKeys()[1])) {
					t.Error("the key stopped before its time")
				}
				after(time.Second)
				if !v.refuses(edToken(t, "b", edKeys()[1]), blog.Unauthenticated, "") || !v.takes(edToken(t, "a", edKeys()[0])) {
					t.Error("the removed key goes on, or the other one stopped")
				}
			})
		})
	}
}

// An issuer without keys has withdrawn them all; that is no fault of reading them.
func TestAllKeysRemoved(t *testing.T) {
	i := newIssuer(public("a", edKeys()[0].Public()))
	withIssuer(t, i, func(v verifier) {
		i.change(func(i *issuer) { i.keys = []map[string]any{} })
		after(time.Hour)
		if !v.refuses(edToken(t, "a", edKeys()[0]), blog.Unauthenticated, "") {
			t.Error("the removed key goes on")
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
			if known == nil || known.Code != blog.Internal || known.RetryAfter <= 0 || !strings.Contains(known.Message, "cannot be checked at the moment") {
				v.Fatalf("got %v", err)
			}
			if time.Since(began) > 0 {
				v.Fatal("it waited for nothing")
			}
		}
		after(10 * time.Minute)
		if asked := i.asked(discoveryPlace); asked < 10 || asked > 15 {
			t.Errorf("asked %d times in ten minutes", asked)
		}
		i.change(func(i *issuer) { i.isDown = false })
		after(time.Minute)
		if !v.takes(token) {
			t.Error("it does not go on when the issuer is there again")
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
		after(24*time.Hour - time.Second)
		if !v.takes(token) {
			t.Error("the key is gone with its issuer")
		}
		if !v.refuses(edToken(t, "next", edKeys()[1]), blog.Internal, "cannot be checked at the moment") {
			t.Error("a key that may be the issuer's next one is not told to wait")
		}
		after(time.Second)
		if !v.refuses(token, blog.Internal, "cannot be checked at the moment") {
			t.Error("a key that nobody vouched for in a day is taken")
		}
		i.change(func(i *issuer) { i.isDown = false })
		after(time.Minute)
		if !v.takes(token) {
			t.Error("it does not go on when the issuer is there again")
		}
	})
}

// Requests wait for a reading that is under way, together, and no longer than they may.
func TestRequestsShareAReading(t *testing.T) {
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
				if !v.takes(token) || time.Since(began) != 4*time.Second {
					t.Errorf("not taken when the keys were there, or only %v after the beginning", time.Since(began))
				}
			})
		}
		all.Wait()
		if asked := i.asked(keysPlace); asked != 1 {
			t.Errorf("the keys were read %d times", asked)
		}
	})
}

func TestIssuerThatHangs(t *testing.T) {
	i := newIssuer()
	i.delay = time.Hour
	withIssuer(t, i, func(v verifier) {
		began := time.Now()
		if !v.refuses(edToken(t, "ed", edKeys()[0]), blog.Internal, "cannot be checked") || time.Since(began) != 5*time.Second {
			t.Errorf("after %v it is not refused, or not so", time.Since(began))
		}
	})
}
