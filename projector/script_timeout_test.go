//go:build ci

package projector_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cosmosblog/proof/storetest"
	"cosmosblog/store/audit"
	"cosmosblog/store/cosmos"
)

// scriptTimeouts answers executions of scripts and writes with a trigger with 408, and counts them
// by script, partition, and state of the item.
type scriptTimeouts struct {
	second int // the status of executions after the first; 408 if it is 0

	mu    sync.Mutex
	times map[string]int
}

var writtenState = regexp.MustCompile(`"id":"[^"]*"|"revision":\d+`)

func (s *scriptTimeouts) refuse(request *http.Request) int {
	isExecution := strings.Contains(request.URL.Path, "/sprocs/")
	if !isExecution && request.Header.Get("x-ms-documentdb-post-trigger-include") == "" {
		return 0
	}
	name := request.URL.Path + " " + request.Header.Get("x-ms-documentdb-partitionkey")
	if !isExecution {
		body, _ := io.ReadAll(request.Body) // in memory
		request.Body = io.NopCloser(bytes.NewReader(body))
		name = fmt.Sprintf("trigger %s", writtenState.FindAll(body, -1))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.times[name]++; s.times[name] > 1 && s.second != 0 {
		return s.second
	}
	return http.StatusRequestTimeout
}

// TestScriptTimeouts lets all scripts run out of time for two minutes, in which a projector works
// on posts, renames and deletions, or a repair or a rebuild corrects views. Nobody executes a
// script more than twice for one item: an account blocks a script that often runs out of time. What
// was set aside is projected afterwards.
func TestScriptTimeouts(t *testing.T) {
	works := map[string]func(*world, *storetest.Database) error{
		"projector": nil,
		"repair": func(w *world, s *storetest.Database) error {
			_, err := audit.Run(withSleep(w.Context(), noSleep), s.DB, audit.Options{Repair: true})
			return err
		},
		"rebuild": func(w *world, s *storetest.Database) error {
			_, err := audit.Rebuild(withSleep(w.Context(), noSleep), s.DB, audit.Options{})
			return err
		},
	}
	for _, second := range []int{0, http.StatusPreconditionFailed, http.StatusConflict, http.StatusNotFound, cosmos.StatusRetryWith} {
		for name, work := range works {
			t.Run(fmt.Sprint(name, " ", second), func(t *testing.T) { scriptsTimeOut(t, second, work) })
		}
	}
}

// scriptsTimeOut is one case of TestScriptTimeouts. Without work, a projector runs.
func scriptsTimeOut(t *testing.T, second int, work func(*world, *storetest.Database) error) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		ben, carl := w.user(), w.user()
		posts := w.posts(ben, 4)
		for _, post := range posts {
			w.comment(carl, post)
		}
		transport, s := w.wired()
		timeouts := &scriptTimeouts{second: second, times: map[string]int{}}
		transport.change(func(c *wire) { c.refuse = timeouts.refuse })
		w.rename(carl)
		if work == nil {
			_, stop := w.run(s)
			advanceTime(2 * time.Minute)
			stop()
		} else if err := work(w, s); err != nil {
			t.Errorf("%v", err)
		}
		for what, n := range timeouts.times {
			if n > 2 {
				t.Errorf("%s: %d times", what, n)
			}
		}
		if len(timeouts.times) < len(posts) {
			t.Errorf("only %v ran out of time", timeouts.times)
		}
		transport.change(func(c *wire) { c.refuse = nil })
		advanceTime(time.Minute)
		_, stop := w.run(s)
		defer stop()
		advanceTime(2 * time.Minute)
		w.retryAll(nil)
		advanceTime(2 * time.Minute)
		w.wantViewsEqualSource()
	})
}
