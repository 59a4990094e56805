package command

import (
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"cosmosblog/store"
	"cosmosblog/store/embedded"
)

// TestDiskThatIsFull ends whoever owns the folder, and says what to do in one sentence.
func TestDiskThatIsFull(t *testing.T) {
	folder, err := ownDataFolder(filepath.Join(t.TempDir(), "data"))
	if err != nil {
		t.Fatal(err)
	}
	defer folder.release()
	var full atomic.Bool
	disk := errorfs.Wrap(vfs.Default, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if full.Load() && op.Kind == errorfs.OpFileWrite {
			return syscall.ENOSPC
		}
		return nil
	}))
	engine, err := folder.openEngine(t.Context(), embedded.Options{FS: disk})
	if err != nil {
		t.Fatal(err)
	}
	full.Store(true)
	if _, err := store.OpenEmbedded(t.Context(), engine.Engine, store.Options{}); err == nil {
		t.Error("a full disk takes definitions")
	}
	<-engine.whole.Done()
	if err := engine.Close(); err == nil || !strings.Contains(err.Error(), "no space left on device") || !strings.Contains(err.Error(), "make room") {
		t.Errorf("it says %v", err)
	}
}
