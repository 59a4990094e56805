package datafolder

import (
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"cosmosblog/engine"
	"cosmosblog/internal/lifecycle"
)

// A full disk ends the process that owns the folder with one error.
func TestFullDisk(t *testing.T) {
	var full atomic.Bool
	disk := errorfs.Wrap(vfs.Default, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if full.Load() && op.Kind == errorfs.OpFileWrite {
			return syscall.ENOSPC
		}
		return nil
	}))
	err := lifecycle.Run(t.Context(), func(r *lifecycle.Runner) error {
		f, err := own(filepath.Join(t.TempDir(), "data"))
		if err != nil {
			return err
		}
		r.OnClose(f.release)
		engine, err := f.openEngineWith(r, engine.Options{FS: disk})
		if err != nil {
			return err
		}
		full.Store(true)
		if _, err := openEmbedded(r, engine, Options{}); err == nil {
			t.Error("definitions are written to a full disk")
		}
		<-r.Context().Done()
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "no space left on device") ||
		!strings.Contains(err.Error(), "make room") || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
}
