// Package files locks files between processes, and makes folders durable.
package files

import (
	"errors"
	"os"
)

// SyncFolder syncs the entries of a folder to disk: files that were created, renamed or removed in
// it stay so after a crash of the machine.
func SyncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
