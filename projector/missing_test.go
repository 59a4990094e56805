package projector_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cosmosblog/store/audit"
	"cosmosblog/store/schema"
)

// withoutTrigger answers like an account without the trigger truncateFeed.
func withoutTrigger(request *http.Request) int {
	switch {
	case request.Header.Get("x-ms-documentdb-post-trigger-include") != "":
		return http.StatusBadRequest
	case strings.Contains(request.URL.Path, "/triggers/"):
		return http.StatusNotFound
	}
	return 0
}

// If the database lacks truncateFeed, the projector waits and reports it, and sets no change
// aside. It continues when the trigger exists.
func TestProjectorWaitsForMissingTrigger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		transport, s := w.wired()
		transport.refuse = withoutTrigger
		p, stop := w.run(s)
		defer stop()
		w.posts(w.user(), 3)
		advanceTime(time.Minute)
		missing := p.Missing()
		if missing == nil || !strings.Contains(missing.Error(), "truncateFeed-") || !strings.Contains(missing.Error(), "provision") {
			t.Errorf("waits for %v", missing)
		}
		if letters := w.letters(); len(letters) > 0 {
			t.Errorf("%d changes were set aside: %+v", len(letters), letters[0])
		}
		transport.change(func(c *wire) { c.refuse = nil })
		advanceTime(time.Minute)
		if missing := p.Missing(); missing != nil {
			t.Errorf("still waits for %v", missing)
		}
		w.wantViewsEqualSource()
	})
}

// If the database lacks a stored procedure, sweeps and deletions wait, and are not set aside.
func TestProjectorWaitsForMissingProcedure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		ben, carl := w.user(), w.user()
		post := w.post(ben)
		w.comment(ben, post)
		w.comment(carl, post)
		transport, s := w.wired()
		transport.refuse = func(request *http.Request) int {
			if strings.Contains(request.URL.Path, "/sprocs/") {
				return http.StatusNotFound
			}
			return 0
		}
		p, stop := w.run(s)
		defer stop()
		w.rename(ben)
		w.deleteUser(carl)
		advanceTime(time.Minute)
		if missing := p.Missing(); missing == nil || !strings.Contains(missing.Error(), "deleteComment-") && !strings.Contains(missing.Error(), "updateUsernames-") {
			t.Errorf("waits for %v", missing)
		}
		if letters := w.letters(); len(letters) > 0 {
			t.Errorf("%d changes were set aside: %+v", len(letters), letters[0])
		}
		transport.change(func(c *wire) { c.refuse = nil })
		advanceTime(2 * time.Minute)
		w.wantViewsEqualSource()
		w.wantUserGone(carl)
	})
}

// A repair reports a missing trigger at once.
func TestRepairReportsMissingTrigger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.post(w.user())
		transport, s := w.wired()
		transport.refuse = withoutTrigger
		begun := time.Now()
		_, err := audit.Run(withSleep(t.Context(), noSleep), s.DB, audit.Options{Repair: true})
		if _, ok := errors.AsType[*schema.MissingError](err); !ok || time.Since(begun) > 0 {
			t.Errorf("after %v: %v", time.Since(begun), err)
		}
	})
}
