package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/google/go-cmp/cmp"

	"cosmosblog/internal/auth"
	"cosmosblog/store"
	"cosmosblog/store/embedded"
)

// everything reads all items of a data folder that nobody has open, sources and views, without what the engine adds and
// what a copy notes for the next one.
func everything(t *testing.T, data string) map[string]any {
	t.Helper()
	engine, err := embedded.Open(embedded.Options{Dir: filepath.Join(data, "engine")})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	return itemsOf(t, engine)
}

func itemsOf(t *testing.T, engine *embedded.Engine) map[string]any {
	t.Helper()
	credential, err := azcosmos.NewKeyCredential(engine.Key())
	if err != nil {
		t.Fatal(err)
	}
	options := &azcosmos.ClientOptions{}
	options.Transport = store.InProcess(engine)
	client, err := azcosmos.NewClientWithKey(store.LocalEndpoint(), credential, options)
	if err != nil {
		t.Fatal(err)
	}
	items := map[string]any{}
	for _, name := range []string{"users", "posts", "feed", "usernames"} {
		container, err := client.NewContainer(store.DefaultDatabase, name)
		if err != nil {
			t.Fatal(err)
		}
		for pager := container.NewQueryItemsPager("SELECT * FROM c", azcosmos.NewPartitionKey(), nil); pager.More(); {
			page, err := pager.NextPage(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range page.Items {
				noteItem(t, items, name, text)
			}
		}
	}
	return items
}

func noteItem(t *testing.T, items map[string]any, container string, text []byte) {
	t.Helper()
	var item map[string]any
	if err := json.Unmarshal(text, &item); err != nil {
		t.Fatal(err)
	}
	for name := range item {
		if strings.HasPrefix(name, "_") || name == "copiedRevision" {
			delete(item, name)
		}
	}
	postID, _ := item["postId"].(string)
	items[container+" "+postID+" "+item["id"].(string)] = item
}

func hasAll(t *testing.T, items map[string]any) {
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

func seeded(t *testing.T, users string) (data string) {
	t.Helper()
	data = filepath.Join(t.TempDir(), "seeded")
	if _, err := runOnce(t, nil, "seed", "--users", users, "--data", data); err != nil {
		t.Fatal(err)
	}
	return data
}

// TestThereAndBack copies a folder, on which a server runs, to an endpoint, and that to another folder: every item of every
// container arrives, and every view is as if it had been there always.
func TestThereAndBack(t *testing.T) {
	data := seeded(t, "8")
	server, _ := serving(t, nil, "--data", data)
	engine, environment := engineProcess(t, t.TempDir())
	provisioned(t, environment)
	endpoint, key := strings.TrimPrefix(environment[0], "COSMOS_ENDPOINT="), strings.TrimPrefix(environment[1], "COSMOS_KEY=")
	there := start(t, []string{"COPY_TO_KEY=" + key}, "copy", "--from", data, "--to", endpoint)
	there.says(t, `^copied 8 users, \d\d+ posts, \d\d+ comments and \d\d+ likes`)
	there.says(t, `^all views of it are made`)
	if code := there.wait(t, patience); code != 0 {
		t.Fatalf("it ended with %d: %s", code, there.stderr.String())
	}
	server.terminate(t)
	back := filepath.Join(t.TempDir(), "back")
	if _, err := runOnce(t, map[string]string{"COPY_FROM_KEY": key}, "copy", "--from", endpoint, "--to", back); err != nil {
		t.Fatal(err)
	}
	engine.terminate(t)
	want := everything(t, data)
	hasAll(t, want)
	if difference := cmp.Diff(want, everything(t, back)); difference != "" {
		t.Errorf("(- first, + last):\n%s", difference)
	}
}

// copyHalfWay starts a copy to an endpoint and gives both when it is somewhere in the middle.
func copyHalfWay(t *testing.T, data string) (target *embedded.Engine, endpoint string, copying *process) {
	t.Helper()
	target, err := embedded.Open(embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { target.Close() })
	var requests atomic.Int64
	enough := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) == 300 {
			close(enough)
		}
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
	case <-patient(t).Done():
		t.Fatal("it does not get there")
	}
	return target, server.URL, copying
}

// TestKilledCopyGoesOn kills a copy in the middle and runs it again.
func TestKilledCopyGoesOn(t *testing.T) {
	data := seeded(t, "8")
	target, endpoint, copying := copyHalfWay(t, data)
	copying.kill(t)
	want := everything(t, data)
	hasAll(t, want)
	if got := itemsOf(t, target); len(got) == 0 || len(got) > len(want)/2 {
		t.Errorf("it was killed at %d of %d items", len(got), len(want))
	}
	if _, err := runOnce(t, map[string]string{"COPY_TO_KEY": target.Key()}, "copy", "--from", data, "--to", endpoint); err != nil {
		t.Fatal(err)
	}
	if difference := cmp.Diff(want, itemsOf(t, target)); difference != "" {
		t.Errorf("(- source, + copy):\n%s", difference)
	}
}

// TestCopyThatIsToldToEnd says how to go on, and is no failure.
func TestCopyThatIsToldToEnd(t *testing.T) {
	data := seeded(t, "8")
	_, _, copying := copyHalfWay(t, data)
	copying.terminate(t)
	if !strings.Contains(copying.stderr.String(), "the same command goes on with it") {
		t.Errorf("it says %s", copying.stderr.String())
	}
}

// TestBackupOfARunningServer backs a folder up while clients write, and serves the backup: it has all that was acknowledged
// before, tokens hold, and views follow.
func TestBackupOfARunningServer(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	server, nobody := serving(t, nil, "--data", data)
	anna := nobody.as(tokenFor(t, data, "anna"))
	anna.createUser(t, "anna")
	postID := anna.createPost(t, "Before", "It was there before.")
	anna.likePost(t, postID)
	acknowledged := &acknowledgements{enough: make(chan struct{})}
	writing := make(chan struct{})
	go func() {
		defer close(writing)
		acknowledged.write(t, anna, "w", postID)
	}()
	eventually(t, "somebody writes", patience, func() bool {
		acknowledged.mu.Lock()
		defer acknowledged.mu.Unlock()
		return len(acknowledged.comments) > 20
	})
	acknowledged.mu.Lock()
	before := append([]string(nil), acknowledged.comments...)
	acknowledged.mu.Unlock()
	folder := filepath.Join(t.TempDir(), "backup")
	backup := start(t, nil, "backup", folder, "--data", data)
	backup.says(t, `^the backup is in `)
	if code := backup.wait(t, patience); code != 0 {
		t.Fatalf("it ended with %d: %s", code, backup.stderr.String())
	}
	server.kill(t)
	<-writing
	for name, mode := range map[string]os.FileMode{".": 0o700, "engine": 0o700, "engine-key": 0o600, auth.LocalKeyFile: 0o600} {
		if info, err := os.Stat(filepath.Join(folder, name)); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}

	restored, nobody := serving(t, nil, "--data", folder)
	defer restored.terminate(t)
	comments, counted := allComments(t, nobody, postID)
	for _, text := range before {
		if !comments[text] {
			t.Errorf("the comment %s is not in the backup", text)
		}
	}
	if counted != len(comments) {
		t.Errorf("%d comments are counted as %d", len(comments), counted)
	}
	nobody.as(anna.token).createPost(t, "After", "The token of before is one still.")
	eventually(t, "the feed follows", patience, func() bool { return allTitles(t, nobody, `feed { nodes { title } }`)["After"] })
}

// TestRestore puts a backup, and another of a folder that nobody has open, in the place of a damaged folder, as the guide
// says.
func TestRestore(t *testing.T) {
	data := seeded(t, "2")
	want := everything(t, data)
	folder := filepath.Join(t.TempDir(), "backup")
	if _, err := runOnce(t, nil, "backup", folder, "--data", data); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(data); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(data, os.DirFS(folder)); err != nil { // cp -a
		t.Fatal(err)
	}
	for _, name := range []string{"engine-key"} {
		if err := os.Chmod(filepath.Join(data, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	server, _ := serving(t, nil, "--data", data)
	server.terminate(t)
	if difference := cmp.Diff(want, everything(t, data)); difference != "" {
		t.Errorf("(- before, + restored):\n%s", difference)
	}
}
