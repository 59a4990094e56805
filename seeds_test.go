//go:build ci

package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"cosmosblog/engine"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/provision"
)

// TestSeedBesideAServer seeds the folder of a running server twice.
func TestSeedBesideAServer(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	server := serveInProcess(t, nil, "--data", data)
	for range 2 {
		runSeed(t, nil, "--users", "2", "--data", data)
	}
	var got struct {
		Feed struct {
			Nodes []struct{ Author struct{ Username string } }
		}
	}
	server.Ask(t, `{ feed(first: 100) { nodes { author { username } } } }`, nil, &got)
	if n := len(got.Feed.Nodes); n < 20 || got.Feed.Nodes[0].Author.Username == "" {
		t.Errorf("the feed has %d posts", n)
	}
}

// TestStoppedSeedResumes seeds an account that throttles requests, stops the process and runs it
// again. After SIGTERM, the process says that its work is incomplete, and ends with exit code 1.
func TestStoppedSeedResumes(t *testing.T) {
	t.Run("killed", func(t *testing.T) { testStoppedSeed(t, (*process).kill) })
	t.Run("terminated", func(t *testing.T) {
		testStoppedSeed(t, func(p *process, t *testing.T) {
			if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			p.requireExitCode(t, 1)
			if got := p.stderr.String(); !strings.Contains(got, "cosmosblog: the data set is incomplete, ") {
				t.Errorf("got the output %s", got)
			}
		})
	})
}

func testStoppedSeed(t *testing.T, stop func(*process, *testing.T)) {
	t.Parallel()
	engine, err := engine.Open(engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	s, err := provision.OpenEmbedded(t.Context(), engine, cosmos.Options{}) // provisions
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var requests atomic.Int64
	reached := make(chan struct{})
	account := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := requests.Add(1)
		if n == requestsBeforeStop {
			close(reached)
		}
		time.Sleep(delayAfter(n))
		if n%7 == 0 {
			w.Header().Set("x-ms-retry-after-ms", "1")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		engine.ServeHTTP(w, r)
	}))
	defer account.Close()
	environment := []string{"COSMOS_ENDPOINT=" + account.URL, "COSMOS_KEY=" + engine.Key()}
	args := []string{"seed", "--users", threeUsers.users, "--seed", threeUsers.seed}
	stopped := start(t, environment, args...)
	select {
	case <-reached:
	case <-time.After(waitTime):
		t.Fatalf("seed sent fewer than %d requests", requestsBeforeStop)
	}
	stop(stopped, t)
	again := start(t, environment, args...)
	again.waitForLine(t, `items in all, are in database cosmosblog at`)
	if code := again.wait(t, waitTime); code != 0 {
		t.Errorf("exit code %d", code)
	}
	requireConsistency(t, engine, 3)
}
