package engine

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// ErrClosed is returned by methods of a closed engine.
var ErrClosed = errors.New("the engine is closed")

// Backup writes a consistent copy of the engine's data to a new folder dir on the same file
// system. Open accepts that folder like the original. The copy begins a new life: see Life. Backup
// runs concurrently with requests. Files that no longer change are hard-linked instead of copied if
// possible. It returns ErrClosed, ErrDisk, or an error if dir exists or cannot be written.
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
		err = beginLife(e.fs, dir)
	}
	if err == nil {
		err = writeSeal(e.fs, dir)
	}
	if err != nil {
		return fmt.Errorf("engine: backup: %w", err)
	}
	return nil
}
