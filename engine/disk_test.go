package engine

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"cosmosblog/proof/testseed"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// failingDisk fails the n-th write of a kind and all later ones, once it is armed.
type failingDisk struct {
	kind  errorfs.OpKind
	files string // part of their names
	left  atomic.Int64
	armed atomic.Bool
}

func (d *failingDisk) maybe(op errorfs.Op) error {
	if !d.armed.Load() || op.Kind != d.kind || !strings.Contains(filepath.Base(op.Path), d.files) {
		return nil
	}
	if d.left.Add(-1) < 0 {
		return errDiskFull
	}
	return nil
}

// TestFailingDisk fails each kind of write of each kind of file at a random point during
// concurrent writes, then drops unsynced data. Acknowledged writes must exist before and after;
// no write may be acknowledged after the failure, and no writer may hang.
func TestFailingDisk(t *testing.T) {
	seed := testseed.Of(t)
	random := rand.New(rand.NewPCG(seed, 0))
	for name, c := range map[string]struct {
		kind  errorfs.OpKind
		files string
		most  int64 // maximum number of operations that succeed first
	}{
		"log written":      {errorfs.OpFileWrite, ".log", 200},
		"log synced":       {errorfs.OpFileSyncData, ".log", 200},
		"log created":      {errorfs.OpCreate, ".log", 2},
		"manifest written": {errorfs.OpFileWrite, "MANIFEST", 1},
		"manifest synced":  {errorfs.OpFileSync, "MANIFEST", 1},
		"table created":    {errorfs.OpCreate, ".sst", 1},
		"table written":    {errorfs.OpFileWrite, ".sst", 10},
		"table synced":     {errorfs.OpFileSyncData, ".sst", 1},
		"folder synced":    {errorfs.OpFileSync, "data", 2},
		"seal written":     {errorfs.OpFileWrite, unsealedName, 2},
		"seal renamed":     {errorfs.OpRename, unsealedName, 2},
	} {
		disk := &failingDisk{kind: c.kind, files: c.files}
		disk.left.Store(random.Int64N(c.most))
		t.Run(name, func(t *testing.T) { diskFails(t, disk) })
	}
}

func diskFails(t *testing.T, disk *failingDisk) {
	memory := vfs.NewCrashableMem()
	var told atomic.Int64
	a := newBlog(t, Options{Dir: "data", FS: errorfs.Wrap(memory, errorfs.InjectorFunc(disk.maybe)), Damaged: func(err error) {
		if !errors.Is(err, ErrDisk) || !errors.Is(err, errDiskFull) {
			t.Errorf("Damaged received %v", err)
		}
		told.Add(1)
	}})
	disk.armed.Store(true)
	var mu sync.Mutex
	var acknowledged []string
	var writers sync.WaitGroup
	long := strings.Repeat("x", 1<<10)
	for w := range 8 {
		writers.Go(func() {
			for i := 0; ; i++ {
				id := fmt.Sprintf("w%d-%d", w, i)
				after := told.Load() > 0
				got := a.send("POST", docs, fmt.Sprintf(`{"id":%q,"postId":%q,"text":%q}`, id, id, long), "pk", id)
				switch {
				case got.status == 500 && a.disk.failure() != nil:
					return
				case got.status != 201 || after:
					t.Errorf("status %d (after the failure: %t)", got.status, after)
					return
				case i == 100:
					return // this kind of write is rare
				}
				mu.Lock()
				acknowledged = append(acknowledged, id)
				mu.Unlock()
				if i%25 == 24 {
					_ = a.disk.renewSeal()
					_, _ = a.db.AsyncFlush() // creates tables and manifests
				}
			}
		})
	}
	writers.Wait()
	assertItemsExist(t, a, acknowledged)
	if a.disk.failure() == nil {
		_ = a.Engine.Close() // may reach the failing write
		t.Skip("the failing write was not reached")
	}
	a.must(500, a.send("POST", "dbs", `{"id":"other"}`))
	a.must(500, a.send("DELETE", posts, ""))
	if err := a.Backup("copy"); !errors.Is(err, ErrDisk) {
		t.Errorf("Backup returned %v", err)
	}
	if err := a.Engine.Close(); !errors.Is(err, ErrDisk) || told.Load() != 1 {
		t.Errorf("Close returned %v; the failure was reported %d times", err, told.Load())
	}
	for _, kept := range []int{0, 50, 100} {
		crashed := memory.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: kept, RNG: rand.New(rand.NewPCG(1, 1))})
		assertItemsExist(t, reopen(t, crashed, a.Key()), acknowledged)
	}
}

// assertItemsExist checks items whose partition keys equal their ids.
func assertItemsExist(t *testing.T, a *account, ids []string) {
	t.Helper()
	for _, id := range ids {
		if got := a.send("GET", docs+"/"+id, "", "pk", id); got.status != 200 {
			t.Errorf("%s was acknowledged, but its read returns %d", id, got.status)
		}
	}
}
