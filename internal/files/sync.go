// Package files locks files between processes, makes folders durable, and stores secrets in files
// that only their owner can read.
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
