//go:build ci

package main

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"cosmosblog/engine"
)

// TestCopyThereAndBack copies a folder with a running server to a database of an endpoint, and that
// to another folder. All items of all containers must be equal, including the views.
func TestCopyThereAndBack(t *testing.T) {
	t.Parallel()
	data := seeded(t, threeUsers)
	server, _ := serving(t, nil, "--data", data)
	engine, environment := serveEngine(t, t.TempDir())
	provisionWith(t, append(environment, "COSMOS_DATABASE=blog2"))
	endpoint, key := strings.TrimPrefix(environment[0], "COSMOS_ENDPOINT=")+"#blog2", strings.TrimPrefix(environment[1], "COSMOS_KEY=")
	there := start(t, []string{"COPY_TO_KEY=" + key}, "copy", "--from", data+"#cosmosblog", "--to", endpoint)
	there.waitForLine(t, `^copied 3 users, \d\d+ posts, \d\d+ comments and \d\d+ likes`)
	there.waitForLine(t, copyBuiltViews)
	if code := there.wait(t, waitTime); code != 0 {
		t.Fatalf("copy ended with %d: %s", code, there.stderr.String())
	}
	server.terminate(t)
	back := filepath.Join(t.TempDir(), "back")
	if _, err := runOnce(t, map[string]string{"COPY_FROM_KEY": key}, "copy", "--from", endpoint, "--to", back); err != nil {
		t.Fatal(err)
	}
	engine.terminate(t)
	want := itemsIn(t, data)
	requireAllTypes(t, want)
	if difference := gocmp.Diff(want, itemsIn(t, back)); difference != "" {
		t.Errorf("(- source, + copy of the copy):\n%s", difference)
	}
}

// TestKilledCopyResumes kills a copy and runs it again.
func TestKilledCopyResumes(t *testing.T) {
	t.Parallel()
	data := seeded(t, threeUsers)
	target, endpoint, copying := startCopy(t, data)
	copying.kill(t)
	want := itemsIn(t, data)
	requireAllTypes(t, want)
	if got := itemsOf(t, target); len(got) == 0 || len(got) > len(want)/2 {
		t.Errorf("the copy was killed after %d of %d items", len(got), len(want))
	}
	if _, err := runOnce(t, map[string]string{"COPY_TO_KEY": target.Key()}, "copy", "--from", data, "--to", endpoint); err != nil {
		t.Fatal(err)
	}
	if difference := gocmp.Diff(want, itemsOf(t, target)); difference != "" {
		t.Errorf("(- source, + copy):\n%s", difference)
	}
}

// TestTerminatedCopy checks that a copy ends with exit code 0 after SIGTERM, and explains how
// to resume.
func TestTerminatedCopy(t *testing.T) {
	t.Parallel()
	data := seeded(t, threeUsers)
	_, _, copying := startCopy(t, data)
	copying.terminate(t)
	if !strings.Contains(copying.stderr.String(), copyResumes) {
		t.Errorf("got the output %s", copying.stderr.String())
	}
}

// requestsBeforeStop is the number of requests after which a copy or a seed is stopped, less than
// half of those that it needs.
const requestsBeforeStop = 80

// delayAfter returns how long the account delays request n of a process that is to be stopped, so
// that the process cannot complete before.
func delayAfter(n int64) time.Duration {
	if n <= requestsBeforeStop || n > 2*requestsBeforeStop {
		return 0
	}
	return 60 * time.Millisecond
}

// startCopy starts a copy to an endpoint and returns after requestsBeforeStop requests.
func startCopy(t *testing.T, data string) (target *engine.Engine, endpoint string, copying *process) {
	t.Helper()
	target, err := engine.Open(engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { target.Close() })
	var requests atomic.Int64
	enough := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := requests.Add(1)
		if n == requestsBeforeStop {
			close(enough)
		}
		time.Sleep(delayAfter(n))
		target.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	if _, err := runOnce(t, map[string]string{"COSMOS_ENDPOINT": server.URL, "COSMOS_KEY": target.Key()}, "provision"); err != nil {
		t.Fatal(err)
	}
	requests.Store(0)
	copying = start(t, []string{"COPY_TO_KEY=" + target.Key()}, "copy", "--from", data, "--to", server.URL)
	select {
	case <-enough:
	case <-deadline(t).Done():
		t.Fatalf("the copy sent fewer than %d requests", requestsBeforeStop)
	}
	return target, server.URL, copying
}

// requireAllTypes requires enough items of each type.
func requireAllTypes(t *testing.T, items map[string]any) {
	t.Helper()
	kinds := map[string]int{}
	for _, item := range items {
		kind, _ := item.(map[string]any)["type"].(string)
		kinds[kind]++
	}
	if kinds["user"] < 3 || kinds["post"] < 60 || kinds["comment"] < 50 || kinds["like"] < 50 {
		t.Fatalf("the data set has %v", kinds)
	}
}
