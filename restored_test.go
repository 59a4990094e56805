//go:build ci

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cosmosblog/cosmostest"
	"cosmosblog/engine"
	"cosmosblog/guard/auth"
	"cosmosblog/internal/inprocess"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/follow"
	"cosmosblog/store/schema"
)

var historyBegins = regexp.MustCompile(`^the history (\S+) begins, in `)

// runRestored runs the command restored, and returns the name of the history that begins.
func runRestored(t *testing.T, environment map[string]string, args ...string) (name, output string) {
	t.Helper()
	output, err := runOnce(t, environment, append([]string{"restored"}, args...)...)
	begins := historyBegins.FindStringSubmatch(output)
	if err != nil || begins == nil || !strings.HasSuffix(output, "exports and interrupted copies begin again\n") {
		t.Fatalf("restored: %q, %v", output, err)
	}
	return begins[1], output
}

// leasesOf returns the continuations of the leases of feed ranges, and the history, of a database.
func leasesOf(t *testing.T, options cosmos.Options) (map[string]string, changefeed.History) {
	t.Helper()
	options.Database = cosmos.DefaultDatabase
	db, err := cosmos.New(options)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	listing, err := changefeed.New(db).List(t.Context())
	leases, history := listing.Leases, listing.History
	if err != nil {
		t.Fatal(err)
	}
	continuations := map[string]string{}
	for _, l := range leases {
		if l.Container != "" {
			continuations[l.ID] = l.Continuation
		}
	}
	return continuations, history
}

// leasesIn is leasesOf for a data folder that no process has open.
func leasesIn(t *testing.T, data string) (map[string]string, changefeed.History) {
	t.Helper()
	engine, err := engine.Open(engine.Options{Dir: filepath.Join(data, "engine")})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	return leasesOf(t, cosmos.Options{Endpoint: inprocess.NewEndpoint(), Key: engine.Key(), Transport: inprocess.To(engine)})
}

// requireKept requires that a data folder has leases, and those that it had before.
func requireKept(t *testing.T, before, after map[string]string) {
	t.Helper()
	if len(before) == 0 {
		t.Error("there are no leases")
	}
	for id, continuation := range before {
		if after[id] != continuation || continuation == "" {
			t.Errorf("the lease %s is at %q, and was at %q", id, after[id], continuation)
		}
	}
}

// TestHistoryOfARestoredBackup restores a backup of a running server. Nothing is projected again.
func TestHistoryOfARestoredBackup(t *testing.T) {
	t.Parallel()
	data, backup := seeded(t, oneUser), filepath.Join(t.TempDir(), "backup")
	server, anonymous := serving(t, nil, "--data", data)
	if _, err := runOnce(t, nil, "backup", backup, "--data", data); err != nil {
		t.Fatal(err)
	}
	anna, _ := signUp(t, anonymous, data, "anna") // is lost
	anna.CreatePost(t, "Lost", "It is not in the backup.")
	waitForFeed(t, anonymous, "Lost")
	server.terminate(t)
	if _, history := leasesIn(t, data); history.Name != "" {
		t.Errorf("the folder that was backed up has the history %+v", history)
	}
	if err := os.RemoveAll(data); err != nil {
		t.Fatal(err)
	}
	copyFolder(t, backup, data)
	if err := os.Chmod(filepath.Join(data, auth.LocalKeyFile), 0o600); err != nil {
		t.Fatal(err)
	}
	before, _ := leasesIn(t, backup)
	var names []string
	for range 2 {
		server, anonymous = serving(t, nil, "--data", data)
		if feedTitles(t, anonymous)["Lost"] {
			t.Error("the restored folder has a post that was written after the backup")
		}
		server.terminate(t)
		after, history := leasesIn(t, data)
		requireKept(t, before, after)
		names = append(names, history.Name)
	}
	if names[0] == "" || names[0] != names[1] {
		t.Errorf("the histories of the restored folder are %q", names)
	}
}

// TestRestoredFolder runs restored on a plain copy of a folder, beside its server and without it.
func TestRestoredFolder(t *testing.T) {
	t.Parallel()
	data := seeded(t, oneUser)
	server, anonymous := serving(t, nil, "--data", data)
	server.terminate(t)
	before, _ := leasesIn(t, data)
	first, output := runRestored(t, nil, "--data", data)
	if strings.Contains(output, throughOwner) || strings.Contains(output, "rebuild") {
		t.Errorf("without a server: %q", output)
	}
	after, history := leasesIn(t, data)
	requireKept(t, before, after)
	if history.Name != first || history.Reason != "the command restored was run" || !history.IsRebuilt {
		t.Errorf("after %s began, the history is %+v", first, history)
	}

	server, anonymous = serving(t, nil, "--data", data)
	anna, _ := signUp(t, anonymous, data, "anna")
	anna.CreatePost(t, "Before", "Some text.")
	second, output := runRestored(t, nil, "--data", data)
	if !strings.Contains(output, throughOwner) || second <= first {
		t.Errorf("beside a server, after %s: %q", first, output)
	}
	anna.CreatePost(t, "After", "Some text.")
	waitForFeed(t, anonymous, "Before")
	waitForFeed(t, anonymous, "After")
	server.terminate(t)
	if _, history = leasesIn(t, data); history.Name != second {
		t.Errorf("after %s began, the history is %+v", second, history)
	}
}

// TestRestoredAccount runs restored on an account. Its leases are void then, and its views are to
// be rebuilt.
func TestRestoredAccount(t *testing.T) {
	t.Parallel()
	endpoint, key := cosmostest.New(t, cosmostest.Options{}).NewTransport().Serve()
	environment := map[string]string{"COSMOS_ENDPOINT": endpoint, "COSMOS_KEY": key}
	if _, err := runOnce(t, environment, "provision"); err != nil {
		t.Fatal(err)
	}
	options := cosmos.Options{Endpoint: endpoint, Key: key, Database: cosmos.DefaultDatabase}
	db, err := cosmos.New(options)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	lease := changefeed.Lease{ID: "lease.posts.-FF", Container: schema.Posts, Range: follow.FeedRange{Max: "FF"}, ResourceID: "r", Continuation: "c"}
	if err := changefeed.New(db).CreateLease(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	name, output := runRestored(t, environment)
	if !strings.Contains(output, "the projectors rebuild the views\n") {
		t.Errorf("on an account: %q", output)
	}
	leases, history := leasesOf(t, options)
	if history.Name != name || history.IsRebuilt || history.HasWholeFeeds() {
		t.Errorf("after %s began, the history is %+v", name, history)
	}
	if continuation := leases[lease.ID]; !follow.IsFromNow(continuation) {
		t.Errorf("the lease is at %q", continuation)
	}
}

// TestCopyOfARestoredFolder copies a folder, restores the folder, and copies it again: to the same
// target, which may have what the source lost, and to an empty one.
func TestCopyOfARestoredFolder(t *testing.T) {
	t.Parallel()
	data, backup := seeded(t, oneUser), filepath.Join(t.TempDir(), "backup")
	if _, err := runOnce(t, nil, "backup", backup, "--data", data); err != nil {
		t.Fatal(err)
	}
	target, empty := filepath.Join(t.TempDir(), "target"), filepath.Join(t.TempDir(), "empty")
	for range 2 {
		if _, err := runOnce(t, nil, "copy", "--from", data, "--to", target); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(data); err != nil {
		t.Fatal(err)
	}
	copyFolder(t, backup, data)
	_, err := runOnce(t, nil, "copy", "--from", data, "--to", target)
	if err == nil || !strings.HasPrefix(err.Error(), "the source went back to an earlier state") || strings.Contains(err.Error(), "\n") {
		t.Errorf("to the same target: %v", err)
	}
	if _, err := runOnce(t, nil, "copy", "--from", data, "--to", empty); err != nil {
		t.Errorf("to an empty target: %v", err)
	}
	if difference := cmp.Diff(itemsIn(t, data), itemsIn(t, empty)); difference != "" {
		t.Errorf("(- restored, + copy):\n%s", difference)
	}
}
