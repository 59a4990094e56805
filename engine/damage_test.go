package engine

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// folderWith creates a folder with n items and closes the engine.
func folderWith(t *testing.T, n int) (dir, key string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "engine")
	a := newBlog(t, Options{Dir: dir})
	for i := range n {
		a.must(201, a.create("p1", fmt.Sprintf(`{"id":"%d","postId":"p1","text":%q}`, i, strings.Repeat(fmt.Sprint(i), 100))))
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, a.Key()
}

// damages are the kinds of damage done to a file. Each function gets the file's content and an
// older copy.
var damages = map[string]func(text, older []byte) []byte{
	"cut at the end":        func(text, _ []byte) []byte { return text[:len(text)-1] },
	"cut in the middle":     func(text, _ []byte) []byte { return text[:len(text)/2] },
	"emptied":               func(_, _ []byte) []byte { return nil },
	"flipped at the start":  func(text, _ []byte) []byte { text[0] ^= 0x55; return text },
	"flipped in the middle": func(text, _ []byte) []byte { text[len(text)/2] ^= 0x55; return text },
	"flipped at the end":    func(text, _ []byte) []byte { text[len(text)-1] ^= 0x55; return text },
	"all zeros":             func(text, _ []byte) []byte { return make([]byte, len(text)) },
	"an older copy":         func(_, older []byte) []byte { return older },
	"removed":               nil,
}

// damage changes a file and reports whether its content differs afterwards.
func damage(t *testing.T, path, olderPath string, how func(text, older []byte) []byte) bool {
	t.Helper()
	if how == nil {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		return true
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	older, err := os.ReadFile(olderPath)
	if err != nil {
		older = text // the file did not exist when the copy was made
	}
	if len(text) == 0 {
		return false
	}
	damaged := how(bytes.Clone(text), older)
	if err := os.WriteFile(path, damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	return !bytes.Equal(text, damaged)
}

// usedFolders returns three copies of a folder with items in tables and in a log: an older one,
// one left by a kill, and one that was closed.
func usedFolders(t *testing.T, n int) (older, killed, closed, key string) {
	t.Helper()
	dir, key := folderWith(t, n/3)
	a := newAccount(t, Options{Dir: dir, Key: key})
	for i := n / 3; i < n; i++ {
		a.create("p1", fmt.Sprintf(`{"id":"%d","postId":"p1"}`, i))
		if i == n/2 {
			older = copyOpenFolder(t, a)
		}
	}
	if err := a.disk.renewSeal(); err != nil { // happens every second
		t.Fatal(err)
	}
	killed = copyOpenFolder(t, a)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	return older, killed, copyOpenFolder(t, a), key
}

// copyOpenFolder copies an engine's folder as a kill would leave it. The copy is taken between
// two renewals of the seal.
func copyOpenFolder(t *testing.T, a *account) string {
	t.Helper()
	a.disk.sealing.Lock()
	defer a.disk.sealing.Unlock()
	copied := filepath.Join(t.TempDir(), "engine")
	if err := os.CopyFS(copied, os.DirFS(a.options.Dir)); err != nil {
		t.Fatal(err)
	}
	return copied
}

// linkFolder returns a folder with a copy of one file, and hard links to the others. The engine
// replaces its files, and never writes into one that exists.
func linkFolder(t *testing.T, dir, changing string) string {
	t.Helper()
	linked := t.TempDir()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		from, to := filepath.Join(dir, file.Name()), filepath.Join(linked, file.Name())
		if file.Name() != changing {
			err = os.Link(from, to)
		} else if text, failed := os.ReadFile(from); failed != nil {
			err = failed
		} else {
			err = os.WriteFile(to, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return linked
}

// folderContent returns the names and contents of a folder's files.
func folderContent(t *testing.T, dir string) map[string]string {
	t.Helper()
	content := map[string]string{}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(dir, file.Name()))
		if err != nil {
			t.Fatal(err)
		}
		content[file.Name()] = string(text)
	}
	return content
}

// TestDamageIsDetected damages each file of a folder in each way, after Close and after a kill.
// The engine must fail to open, report the damage on the first read, or return all items. It
// must never return fewer items.
func TestDamageIsDetected(t *testing.T) {
	const items = 300
	older, killed, closed, key := usedFolders(t, items)
	shownByReads := false
	for end, dir := range map[string]string{"killed": killed, "closed": closed} {
		content := folderContent(t, dir)
		for file := range content {
			if file == "LOCK" {
				continue // Pebble creates it again
			}
			for how, change := range damages {
				t.Run(end+"/"+file+"/"+how, func(t *testing.T) {
					copied := linkFolder(t, dir, file)
					if !damage(t, filepath.Join(copied, file), filepath.Join(older, file), change) {
						t.Skip("unchanged")
					}
					shown := detectDamage(t, copied, key, items)
					shownByReads = shownByReads || shown == reportedByRead
					t.Log(shown)
				})
			}
		}
		if !maps.Equal(folderContent(t, dir), content) {
			t.Errorf("the tests changed the folder %s that they share", end)
		}
	}
	if !shownByReads {
		t.Error("no damage was detected by a read; the tables are too small")
	}
}

const reportedByRead = "reported by the read"

// detectDamage opens a damaged folder and describes how the damage shows.
func detectDamage(t *testing.T, dir, key string, items int) string {
	var told atomic.Int64
	e, err := Open(Options{Dir: dir, Key: key, Damaged: func(error) { told.Add(1) }})
	if err != nil {
		if !errors.Is(err, ErrDamaged) {
			t.Errorf("Open returned %v, want ErrDamaged", err)
		}
		return fmt.Sprint("Open: ", err)
	}
	defer e.Close()
	a := &account{Engine: e, t: t, clock: &testClock{}, key: e.key.Load().bytes}
	got := a.query("p1", `{"query":"SELECT VALUE c.id FROM c"}`, "x-ms-max-item-count", "1000")
	if told.Load() > 0 {
		return reportedByRead
	}
	if got.status != 200 || len(got.items()) != items {
		t.Errorf("status %d with %d of %d items, and no damage is reported", got.status, len(got.items()), items)
	}
	switch err := e.Check(); {
	case err == nil:
		return "all items exist"
	case !isDamage(err):
		t.Errorf("Check returned %v, want the damage", err)
	}
	return "all items exist, and Check reports damage that the query did not read"
}

// TestDamageSinceLastSeal cuts off the end of the log. Only the log contains data written since
// the last seal, so that data is lost silently (docs/compatibility.md). Sealed data is never
// lost, and a transaction is lost completely or not at all.
func TestDamageSinceLastSeal(t *testing.T) {
	dir, key := folderWith(t, 10)
	a := newAccount(t, Options{Dir: dir, Key: key})
	a.create("p1", `{"id":"sealed","postId":"p1"}`)
	if err := a.disk.renewSeal(); err != nil {
		t.Fatal(err)
	}
	a.must(200, a.send("POST", docs, `[{"operationType":"Create","resourceBody":{"id":"x","postId":"p1"}},
		{"operationType":"Create","resourceBody":{"id":"y","postId":"p1"}}]`, "pk", "p1", "x-ms-cosmos-is-batch-request", "true", "x-ms-cosmos-batch-atomic", "true"))
	killed := copyOpenFolder(t, a)
	for cut := 0; cut < 4000; cut += 61 {
		copied := filepath.Join(t.TempDir(), "engine")
		if err := os.CopyFS(copied, os.DirFS(killed)); err != nil {
			t.Fatal(err)
		}
		logs, err := filepath.Glob(filepath.Join(copied, "*.log"))
		if err != nil || len(logs) == 0 {
			t.Fatalf("no log: %v", err)
		}
		log := slices.Max(logs)
		text, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(log, int64(len(bytes.TrimRight(text, "\x00"))-cut)); err != nil {
			t.Fatal(err)
		}
		e, err := Open(Options{Dir: copied, Key: key})
		if errors.Is(err, ErrDamaged) {
			return // the cut has reached sealed data
		}
		if err != nil {
			t.Fatal(err)
		}
		b := &account{Engine: e, t: t, clock: &testClock{}, key: e.key.Load().bytes}
		b.must(200, b.send("GET", docs+"/sealed", "", "pk", "p1"))
		if x, y := b.send("GET", docs+"/x", "", "pk", "p1"), b.send("GET", docs+"/y", "", "pk", "p1"); x.status != y.status {
			t.Errorf("after cutting %d bytes, part of the batch exists: status %d and %d", cut, x.status, y.status)
		}
		if err := errors.Join(e.Check(), e.Close()); err != nil {
			t.Error(err)
		}
	}
	t.Error("the cut never reached sealed data")
}

// TestBackupIsSealed damages a backup. A backup must match its seal like a closed folder.
func TestBackupIsSealed(t *testing.T) {
	a := newBlog(t, Options{Dir: filepath.Join(t.TempDir(), "engine")})
	a.must(201, a.create("p1", `{"id":"a","postId":"p1"}`))
	copied := filepath.Join(t.TempDir(), "copy")
	if err := a.Backup(copied); err != nil {
		t.Fatal(err)
	}
	logs, err := filepath.Glob(filepath.Join(copied, "*.log"))
	if err != nil || len(logs) == 0 {
		t.Fatalf("no log: %v", err)
	}
	for _, file := range []string{logs[len(logs)-1], filepath.Join(copied, lifeName)} {
		whole, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		damage(t, file, "", damages["cut in the middle"])
		if _, err := Open(Options{Dir: copied, Key: a.Key()}); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: got %v", file, err)
		}
		if err := os.WriteFile(file, whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFailedSealKeepsPreviousSeal fails to write a seal. The folder then opens with the previous
// seal, as after a crash.
func TestFailedSealKeepsPreviousSeal(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "engine")
	full := false
	fs := errorfs.Wrap(vfs.Default, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if full && op.Kind == errorfs.OpFileWrite && filepath.Base(op.Path) == unsealedName {
			return errDiskFull
		}
		return nil
	}))
	a := newBlog(t, Options{Dir: dir, FS: fs})
	a.create("p1", `{"id":"a","postId":"p1"}`)
	full = true
	if err := a.Close(); !errors.Is(err, errDiskFull) {
		t.Errorf("Close returned %v", err)
	}
	b := newAccount(t, Options{Dir: dir, Key: a.Key()})
	b.must(200, b.send("GET", docs+"/a", "", "pk", "p1"))
}

var errDiskFull = errors.New("no space left")
