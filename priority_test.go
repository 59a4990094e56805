//go:build ci

package main

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"cosmosblog/cli"
	"cosmosblog/cosmostest"
	"cosmosblog/store/cosmos"
)

// wiredAccount is an account of which each process gets an endpoint of its own, which records the
// process's requests.
type wiredAccount struct{ *cosmostest.Account }

func newWiredAccount(t *testing.T) wiredAccount {
	t.Helper()
	a := wiredAccount{cosmostest.New(t, cosmostest.Options{})}
	_, environment := a.wire()
	if output, err := runOnce(t, environment, "provision"); err != nil {
		t.Fatalf("%s: %v", output, err)
	}
	return a
}

// wire returns a new endpoint's recorder, and the environment of a process that uses it.
func (a wiredAccount) wire() (*cosmostest.Transport, map[string]string) {
	wire := a.NewTransport()
	wire.Inject(nil)
	endpoint, key := wire.Serve()
	return wire, map[string]string{
		"COSMOS_ENDPOINT": endpoint, "COSMOS_KEY": key, "COPY_FROM_KEY": key, "COPY_TO_KEY": key,
		"COSMOSBLOG_BACKGROUND_BUCKET": "2",
	}
}

// isBackground reports whether a request has both headers of background work. It fails the test if
// the request has one of them.
func isBackground(t *testing.T, request *http.Request) bool {
	t.Helper()
	priority, bucket := request.Header.Get(cosmos.PriorityHeader), request.Header.Get(cosmos.BucketHeader)
	if (priority != "" || bucket != "") && (priority != "Low" || bucket != "2") {
		t.Errorf("%s %s: priority %q, bucket %q", request.Method, request.URL.Path, priority, bucket)
	}
	return priority != ""
}

func isLeaseWrite(request *http.Request) bool {
	key := request.Header.Get("X-Ms-Documentdb-Partitionkey")
	return strings.HasPrefix(key, `["heartbeat.`) || strings.HasPrefix(key, `["lease.`)
}

// TestCommandsAreBackgroundWork checks that these commands send every request to items as
// background work, except the writes of leases and heartbeats by the projector of a copy.
func TestCommandsAreBackgroundWork(t *testing.T) {
	t.Parallel()
	account, other := newWiredAccount(t), newWiredAccount(t)
	for _, args := range []string{
		"seed --users 2", "audit --repair --max-ru 1000000", "rebuild --max-ru 1000000",
		"copy --from {own} --to {other}",
		"copy --from {other} --to {own}",
	} {
		if strings.HasPrefix(args, "copy --from {other}") {
			account = newWiredAccount(t) // an empty target
		}
		wire, environment := account.wire()
		theirs, theirEnvironment := other.wire()
		names := strings.NewReplacer("{own}", environment["COSMOS_ENDPOINT"], "{other}", theirEnvironment["COSMOS_ENDPOINT"])
		if strings.HasPrefix(args, "copy --from {own}") {
			environment["COPY_TO_KEY"] = theirEnvironment["COPY_TO_KEY"]
		} else {
			environment["COPY_FROM_KEY"] = theirEnvironment["COPY_FROM_KEY"]
		}
		if output, err := runOnce(t, environment, strings.Fields(names.Replace(args))...); err != nil {
			t.Fatalf("%s: %s, %v", args, output, err)
		}
		requests := append(wire.Requests(), theirs.Requests()...)
		if len(wire.Requests()) == 0 || strings.Contains(args, "{other}") && len(theirs.Requests()) == 0 {
			t.Errorf("%s sent no requests", args)
		}
		for _, request := range requests {
			if strings.Contains(string(cosmostest.Body(request)), "'heartbeat'") {
				continue // projectors list the leases as they write them, and commands as background work
			}
			if background := isBackground(t, request); background == isLeaseWrite(request) {
				t.Errorf("%s: %s %s: background work: %t", args, request.Method, request.URL.Path, background)
			}
		}
	}
}

// TestServersAreForeground checks that a server without a projector sends nothing as background
// work, and that a projector beside it does.
func TestServersAreForeground(t *testing.T) {
	t.Parallel()
	account, data := newWiredAccount(t), t.TempDir()
	ofServer, environment := account.wire()
	anonymous := serveInProcess(t, environment, "--projector=false", "--data", data)
	ofProjector, environment := account.wire()
	stop := runInProcess(t, environment, "projector", "--data", data)
	anna, _ := signUp(t, anonymous, data, "anna")
	anna.CreateComment(t, anna.CreatePost(t, "First", "Some text."), "One.")
	waitForFeed(t, anna, "First")
	stop()
	for _, request := range ofServer.Requests() {
		if isBackground(t, request) {
			t.Errorf("the server sends %s %s as background work", request.Method, request.URL.Path)
		}
	}
	background := wantBackgroundProjector(t, ofProjector.Requests())
	if background == 0 {
		t.Error("the projector sends no background work")
	}
}

// TestProjectorOfServerIsBackground checks that a server and the projector in its process differ,
// although both use one client.
func TestProjectorOfServerIsBackground(t *testing.T) {
	t.Parallel()
	account, data := newWiredAccount(t), t.TempDir()
	wire, environment := account.wire()
	anna, _ := signUp(t, serveInProcess(t, environment, "--data", data, "--cache-bytes", "0"), data, "anna")
	anna.CreatePost(t, "First", "Some text.")
	waitForFeed(t, anna, "First")
	if wantBackgroundProjector(t, wire.Requests()) == 0 {
		t.Error("the projector sends no background work")
	}
	for _, request := range wire.Requests() {
		if target, _ := cosmos.TargetOf(request); target.Container == "feed" && target.Operation == cosmos.OperationQuery && isBackground(t, request) {
			t.Error("the server reads the feed as background work")
		}
	}
}

// wantBackgroundProjector checks the requests that only projectors send. It returns the number of
// those that are background work.
func wantBackgroundProjector(t *testing.T, requests []*http.Request) (background int) {
	t.Helper()
	for _, request := range requests {
		target, _ := cosmos.TargetOf(request)
		isProjection := target.Operation == "changeFeed" || target.Operation == "batch"
		is := isBackground(t, request)
		if is {
			background++
		}
		if isProjection && !is || isLeaseWrite(request) && is {
			t.Errorf("%s %s: background work: %t", request.Method, request.URL.Path, is)
		}
	}
	return background
}

// runInProcess runs a command in this process until stop is called.
func runInProcess(t *testing.T, environment map[string]string, args ...string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(deadline(t))
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, args, cli.Environment{Stdout: new(safeBuffer), Stderr: new(safeBuffer), LookupEnv: lookupIn(environment)})
	}()
	return func() {
		t.Helper()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}
