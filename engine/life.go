package engine

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// lifeName is the file with the id of a folder's life. Only backups have it, and what they become.
// Pebble ignores it, and the seal lists it like all files.
const lifeName = "life"

// Life returns the id of the folder's life. Backup gives a new one to each backup, so a program
// that has stored it notices that the folder was replaced by a backup. It is empty if the folder
// never was a backup. A folder that is copied in another way keeps it. Life may be called at any
// time.
func (e *Engine) Life() string { return e.life }

// beginLife gives a folder that is not open a new id.
func beginLife(fsys vfs.FS, dir string) error {
	return writeFile(fsys, fsys.PathJoin(dir, lifeName), []byte(rand.Text()))
}

// readLife returns the id of a folder's life, or "" if it has none. Error: ErrDamaged.
func readLife(fsys vfs.FS, dir string) (string, error) {
	text, err := readFile(fsys, fsys.PathJoin(dir, lifeName))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", err
	case len(text) != len(rand.Text()):
		return "", fmt.Errorf("%w: %s has %d bytes", ErrDamaged, lifeName, len(text))
	}
	return string(text), nil
}
