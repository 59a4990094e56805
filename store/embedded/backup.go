package embedded

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// ErrClosed says that an engine was closed.
var ErrClosed = errors.New("the engine is closed")

// Backup writes what is on disk at one moment into a new folder of the same file system: Open opens it as it would the
// engine's own. It runs beside other requests; files that no longer change are linked, not copied, where they can be.
// Errors: where the folder exists, or cannot be written; ErrClosed.
func (e *Engine) Backup(dir string) error {
	e.gate.RLock()
	defer e.gate.RUnlock()
	if e.closed {
		return ErrClosed
	}
	err := e.disk.failure()
	if err == nil {
		err = e.db.Checkpoint(dir, pebble.WithFlushedWAL())
	}
	if err == nil {
		err = writeSeal(e.fs, dir)
	}
	if err != nil {
		return fmt.Errorf("embedded: backup: %w", err)
	}
	return nil
}
