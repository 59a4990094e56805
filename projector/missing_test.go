package projector_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cosmosblog/store"
)

// withoutTrigger answers as an account does that lacks truncateFeed.
func withoutTrigger(request *http.Request) int {
	switch {
	case request.Header.Get("x-ms-documentdb-post-trigger-include") != "":
		return http.StatusBadRequest
	case strings.Contains(request.URL.Path, "/triggers/"):
		return http.StatusNotFound
	}
	return 0
}

// While the database lacks truncateFeed, no change is to blame: the projector waits and says so, sets nothing aside, and goes on when the
// trigger is there.
func TestAMissingTriggerIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		way, s := w.wired()
		way.refuse = withoutTrigger
		p, stop := w.run(s)
		defer stop()
		w.posts(w.user(), 3)
		pass(time.Minute)
		missing := p.Missing()
		if missing == nil || !strings.Contains(missing.Error(), "truncateFeed-") || !strings.Contains(missing.Error(), "provision") {
			t.Errorf("it waits for %v", missing)
		}
		if letters := w.letters(); len(letters) > 0 {
			t.Errorf("%d changes were set aside: %+v", len(letters), letters[0])
		}
		way.change(func(c *wire) { c.refuse = nil })
		pass(time.Minute)
		if missing := p.Missing(); missing != nil {
			t.Errorf("it still waits for %v", missing)
		}
		w.check()
	})
}

// Nor is anybody to blame whose name is to be swept, or who is to be deleted, while the database lacks a stored procedure.
func TestAMissingProcedureIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		ben, carl := w.user(), w.user()
		post := w.post(ben)
		w.comment(ben, post)
		w.comment(carl, post)
		way, s := w.wired()
		way.refuse = func(request *http.Request) int {
			if strings.Contains(request.URL.Path, "/sprocs/") {
				return http.StatusNotFound
			}
			return 0
		}
		p, stop := w.run(s)
		defer stop()
		w.rename(ben)
		w.deleteUser(carl)
		pass(time.Minute)
		if missing := p.Missing(); missing == nil || !strings.Contains(missing.Error(), "deleteComment-") {
			t.Errorf("it waits for %v", missing)
		}
		if letters := w.letters(); len(letters) > 0 {
			t.Errorf("%d changes were set aside: %+v", len(letters), letters[0])
		}
		way.change(func(c *wire) { c.refuse = nil })
		pass(2 * time.Minute)
		w.check()
		w.isGone(carl)
	})
}

// Whoever repairs is told at once what the database lacks.
func TestARepairDoesNotWaitForATrigger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.post(w.user())
		way, s := w.wired()
		way.refuse = withoutTrigger
		a := store.Auditing{Store: s, Repair: true, Sleep: func(context.Context, time.Duration) error { return nil }}
		begun := time.Now()
		_, err := a.Run(t.Context())
		if _, ok := errors.AsType[*store.MissingError](err); !ok || time.Since(begun) > 0 {
			t.Errorf("after %v: %v", time.Since(begun), err)
		}
	})
}
