package projector_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
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
