package main

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/cockroachdb/pebble/v2"
	"github.com/google/go-cmp/cmp"

	"cosmosblog/engine"
	"cosmosblog/guard/auth"
	"cosmosblog/internal/inprocess"
)

// folderCommands returns the arguments of the commands that open a data folder.
func folderCommands(t *testing.T, data string) map[string][]string {
	t.Helper()
	other := filepath.Join(t.TempDir(), "other")
	return map[string][]string{
		"serve":     {"serve", "--addr", "127.0.0.1:0", "--data", data},
		"projector": {"projector", "--data", data},
		"provision": {"provision", "--data", data},
		"engine":    {"engine", "--addr", "127.0.0.1:0", "--data", data},
		"seed":      oneUser.args(data),
		"copy from": {"copy", "--from", data, "--to", other},
		"copy to":   {"copy", "--from", filepath.Join(filepath.Dir(data), "good"), "--to", data},
		"backup":    {"backup", other + "-backup", "--data", data},
		"check":     {"check", "--data", data},
	}
}

// requireErrorLine requires that a process ends with exit code 1 and one error line, which
// contains the folder and want.
func requireErrorLine(t *testing.T, p *process, data, want string) {
	t.Helper()
	p.requireExitCode(t, 1)
	var lines []string
	for line := range strings.Lines(p.stderr.String()) {
		if strings.HasPrefix(line, "time=") {
			continue // the log
		}
		lines = append(lines, line)
	}
	if len(lines) != 1 || !strings.HasPrefix(lines[0], "cosmosblog: ") ||
		!strings.Contains(lines[0], data) || !strings.Contains(lines[0], want) {
		t.Errorf("want one error line with %s and %q, got:\n%s", data, want, p.stderr.String())
	}
	if strings.Contains(p.stderr.String(), "goroutine") {
		t.Error("the output has a stack trace")
	}
}

func TestUnusableFolders(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(t *testing.T, data string)
		want  string
	}{
		"newer format":       {setNewerFormat, "was written by a newer version of this program"},
		"truncated table":    {func(t *testing.T, data string) { truncate(t, data, "*.sst") }, "is damaged"},
		"truncated manifest": {func(t *testing.T, data string) { truncate(t, data, "MANIFEST-*") }, "is damaged"},
		"truncated log":      {func(t *testing.T, data string) { truncate(t, data, "*.log") }, "is damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := seeded(t, oneUser)
			copyFolder(t, data, filepath.Join(filepath.Dir(data), "good"))
			c.spoil(t, data)
			for name, args := range folderCommands(t, data) {
				t.Run(name, func(t *testing.T) { requireErrorLine(t, start(t, nil, args...), data, c.want) })
			}
		})
	}
}

// truncate truncates the files of the engine that match a pattern to half of their size.
func truncate(t *testing.T, data, pattern string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(data, "engine", pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("no %s: %v", pattern, err)
	}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(file, info.Size()/2); err != nil {
			t.Fatal(err)
		}
	}
}

// setNewerFormat sets the format of a data folder to that of a newer version.
func setNewerFormat(t *testing.T, data string) {
	t.Helper()
	dir := filepath.Join(data, "engine")
	db := openPebble(t, dir)
	if err := db.Set([]byte("mformat"), binary.BigEndian.AppendUint64(nil, 99), pebble.Sync); err != nil {
		t.Fatal(err)
	}
	closeWithoutSeal(t, db, dir)
}

// TestFolderWithoutPermission runs commands as a user without permission for the folder. As
// root, it changes the user, because root has permission for all folders.
func TestFolderWithoutPermission(t *testing.T) {
	folder, err := os.MkdirTemp("", "cosmosblog-test-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	program := filepath.Join(folder, programName) // where any user can run it
	text, err := os.ReadFile(programPath())
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		os.Chmod(folder, 0o755),
		os.WriteFile(program, text, 0o755),
		os.Mkdir(filepath.Join(folder, "closed"), 0o500),
		os.Mkdir(filepath.Join(folder, "tmp"), 0o777),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	attributes := &syscall.SysProcAttr{}
	if os.Geteuid() == 0 {
		attributes.Credential = &syscall.Credential{Uid: unprivilegedUser, Gid: unprivilegedUser}
	}
	for name, data := range map[string]string{"closed": filepath.Join(folder, "closed"), "cannot be created": filepath.Join(folder, "closed", "new")} {
		args := folderCommands(t, data)
		delete(args, "copy to") // there is no source
		delete(args, "backup")
		delete(args, "copy from")
		args["token"] = []string{"token", "--sub", "anna", "--data", data}
		for command, args := range args {
			t.Run(name+" "+command, func(t *testing.T) {
				p := startProgram(t, program, nil, attributes, args...)
				requireErrorLine(t, p, filepath.Join(folder, "closed"), "permission denied")
			})
		}
	}
}

// unprivilegedUser owns no files.
const unprivilegedUser = 65534

// TestFolderWithOtherDefinitions checks that serve rejects a folder whose containers have other
// definitions.
func TestFolderWithOtherDefinitions(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	if _, err := runOnce(t, nil, "provision", "--data", data); err != nil {
		t.Fatal(err)
	}
	addExcludedPath(t, data)
	_, err := runOnce(t, nil, "serve", "--addr", "127.0.0.1:0", "--data", data)
	if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "the data folder "+data+" was made by another version") ||
		!strings.Contains(err.Error(), `the list of excluded index paths of the container feed is /"_etag"/?, /added/? and should be`) {
		t.Errorf("got %v", err)
	}
}

// addExcludedPath changes the indexing policy of the container feed.
func addExcludedPath(t *testing.T, data string) {
	t.Helper()
	key, err := os.ReadFile(filepath.Join(data, "engine-key"))
	if err != nil {
		t.Fatal(err)
	}
	engine, err := engine.Open(engine.Options{Dir: filepath.Join(data, "engine"), Key: string(key)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	}()
	feed := containerOf(t, newClient(t, inprocess.NewEndpoint(), engine.Key(), engine), "feed")
	answer, err := feed.Read(deadline(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	properties := *answer.ContainerProperties
	properties.IndexingPolicy.ExcludedPaths = []azcosmos.ExcludedPath{{Path: `/"_etag"/?`}, {Path: "/added/?"}}
	if _, err := feed.Replace(deadline(t), properties, nil); err != nil {
		t.Fatal(err)
	}
}

// TestCheck checks a folder without and with a running server, before and after damage.
func TestCheck(t *testing.T) {
	t.Parallel()
	data := seeded(t, oneUser)
	check := func(code int, line string) {
		t.Helper()
		p := start(t, nil, "check", "--data", data)
		p.waitForLine(t, line)
		p.requireExitCode(t, code)
		if code != 0 && !strings.Contains(p.stderr.String(), "has 2 faults") {
			t.Errorf("got the output %s", p.stderr.String())
		}
	}
	check(0, checkIsClean)
	server, _ := serving(t, nil, "--data", data)
	check(0, checkIsClean)
	server.terminate(t)
	deleteChange(t, filepath.Join(data, "engine"))
	const lost = `has no change feed entry`
	check(1, lost)
	server, _ = serving(t, nil, "--data", data)
	check(1, lost)
	server.terminate(t)
}

// deleteChange deletes a change from the change feed.
func deleteChange(t *testing.T, dir string) {
	t.Helper()
	db := openPebble(t, dir)
	changes, err := db.NewIter(&pebble.IterOptions{LowerBound: []byte("f"), UpperBound: []byte("g")})
	if err != nil || !changes.First() {
		t.Fatalf("no change: %v", err)
	}
	if err := db.Delete(changes.Key(), pebble.Sync); err != nil {
		t.Fatal(err)
	}
	if err := changes.Close(); err != nil {
		t.Fatal(err)
	}
	closeWithoutSeal(t, db, dir)
}

// TestBackupOfARunningServer backs a folder up while clients write, and serves the backup. It
// must have all writes that were acknowledged before, accept the same tokens, and update its
// views.
func TestBackupOfARunningServer(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	server, anonymous := serving(t, nil, "--data", data)
	anna, _ := signUp(t, anonymous, data, "anna")
	postID := anna.CreatePost(t, "Before", "It was there before.")
	anna.LikePost(t, postID)
	acknowledged := &acknowledgements{enough: make(chan struct{})}
	writing := make(chan struct{})
	go func() {
		defer close(writing)
		acknowledged.write(t, anna, "w", postID)
	}()
	eventually(t, "the client writes", waitTime, func() bool {
		acknowledged.mu.Lock()
		defer acknowledged.mu.Unlock()
		return len(acknowledged.comments) > 20
	})
	acknowledged.mu.Lock()
	before := append([]string(nil), acknowledged.comments...)
	acknowledged.mu.Unlock()
	folder := filepath.Join(t.TempDir(), "backup")
	backup := start(t, nil, "backup", folder, "--data", data)
	backup.waitForLine(t, `^the backup is in `)
	if code := backup.wait(t, waitTime); code != 0 {
		t.Fatalf("backup ended with %d: %s", code, backup.stderr.String())
	}
	server.kill(t)
	<-writing
	for name, mode := range map[string]os.FileMode{".": 0o700, "engine": 0o700, "engine-key": 0o600, auth.LocalKeyFile: 0o600} {
		if info, err := os.Stat(filepath.Join(folder, name)); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}

	restored, anonymous := serving(t, nil, "--data", folder)
	defer restored.terminate(t)
	comments, count := allComments(t, anonymous, postID)
	for _, text := range before {
		if !comments[text] {
			t.Errorf("the comment %s is not in the backup", text)
		}
	}
	if count != len(comments) {
		t.Errorf("%d comments with a commentCount of %d", len(comments), count)
	}
	anonymous.WithToken(anna.Token).CreatePost(t, "After", "The old token is still valid.")
	waitForFeed(t, anonymous, "After")
}

// TestRestore replaces a folder with its backup, as docs/operations.md describes.
func TestRestore(t *testing.T) {
	t.Parallel()
	data := seeded(t, oneUser)
	want := itemsIn(t, data)
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
	if difference := cmp.Diff(want, itemsIn(t, data)); difference != "" {
		t.Errorf("(- before, + restored):\n%s", difference)
	}
}

// itemsIn returns all items of a data folder that no process has open.
func itemsIn(t *testing.T, data string) map[string]any {
	t.Helper()
	engine, err := engine.Open(engine.Options{Dir: filepath.Join(data, "engine")})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	return itemsOf(t, engine)
}

// itemsOf returns all items of the sources and views. It omits the properties that the engine
// adds, the revision that a copy stores for the next one, and the times at which posts came into
// the feed.
func itemsOf(t *testing.T, engine *engine.Engine) map[string]any {
	t.Helper()
	items := map[string]any{}
	for _, container := range []string{"users", "posts", "feed", "usernames"} {
		eachItem(t, engine, container, func(item map[string]any) {
			for name := range item {
				if strings.HasPrefix(name, "_") || slices.Contains([]string{"arrivalDate", "lastArrival", "trimmedArrival"}, name) {
					delete(item, name)
				}
			}
			postID, _ := item["postId"].(string)
			items[container+" "+postID+" "+item["id"].(string)] = item
		})
	}
	return items
}
