package embedded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// folderWith writes a folder with n items and ends the engine in order.
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

// damages are what may happen to a file behind the engine's back.
var damages = map[string]func(text []byte) []byte{
	"cut":     func(text []byte) []byte { return text[:len(text)/2] },
	"emptied": func([]byte) []byte { return nil },
	"flipped": func(text []byte) []byte { text[len(text)/2] ^= 0x55; return text },
	"removed": nil,
}

func damage(t *testing.T, path string, how func([]byte) []byte) {
	t.Helper()
	if how == nil {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, how(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestDamageIsNoticed damages each file of a closed folder in each way: the engine does not open, or says so at the first
// read, and never answers with less than there was.
func TestDamageIsNoticed(t *testing.T) {
	const items = 300
	dir, key := folderWith(t, items)
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		info, err := file.Info()
		if err != nil {
			t.Fatal(err)
		}
		for how, change := range damages {
			if info.Size() == 0 && how != "removed" || file.Name() == sealName && how == "removed" || file.Name() == "LOCK" {
				continue // nothing to damage; as after a crash; Pebble makes it anew
			}
			t.Run(file.Name()+" "+how, func(t *testing.T) {
				copied := filepath.Join(t.TempDir(), "engine")
				if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
					t.Fatal(err)
				}
				damage(t, filepath.Join(copied, file.Name()), change)
				noticed(t, copied, key, items)
			})
		}
	}
}

func noticed(t *testing.T, dir, key string, items int) {
	var told atomic.Int64
	e, err := Open(Options{Dir: dir, Key: key, Damaged: func(error) { told.Add(1) }})
	if err != nil {
		if !errors.Is(err, ErrDamaged) {
			t.Errorf("it does not open, for another reason: %v", err)
		}
		return
	}
	defer e.Close()
	a := &account{Engine: e, t: t, clock: &testClock{}, key: e.key}
	got := a.query("p1", `{"query":"SELECT VALUE c.id FROM c"}`, "x-ms-max-item-count", "1000")
	if told.Load() == 0 {
		t.Errorf("nothing was said of it; it answers %d", got.status)
	}
	if got.status == 200 && len(got.items()) != items {
		t.Errorf("it answers with %d of %d items", len(got.items()), items)
	}
}

// After a crash there is no seal, and nothing is held to an old one.
func TestSealIsBrokenByOpening(t *testing.T) {
	dir, key := folderWith(t, 1)
	for range 2 {
		if _, err := os.Stat(filepath.Join(dir, sealName)); err != nil {
			t.Fatal(err)
		}
		e, err := Open(Options{Dir: dir, Key: key})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(dir, sealName)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("an open folder is sealed: %v", err)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A backup is held to its seal like a folder that was closed.
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
	damage(t, logs[len(logs)-1], damages["cut"])
	if _, err := Open(Options{Dir: copied, Key: a.Key()}); !errors.Is(err, ErrDamaged) {
		t.Errorf("got %v", err)
	}
}

// fullDisk has no room for a seal.
type fullDisk struct{ vfs.FS }

type fullFile struct{ vfs.File }

func (fullFile) Write([]byte) (int, error) { return 0, errDiskFull }

var errDiskFull = errors.New("no room")

func (d fullDisk) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := d.FS.Create(name, category)
	if err == nil && filepath.Base(name) == unsealedName {
		return fullFile{file}, nil
	}
	return file, err
}

// A seal that could not be written is none: the folder opens as after a crash.
func TestSealThatIsNotWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "engine")
	e, err := Open(Options{Dir: dir, FS: fullDisk{vfs.Default}})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); !errors.Is(err, errDiskFull) {
		t.Errorf("Close says %v", err)
	}
	if e, err = Open(Options{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}
