//go:build unix

package files

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// CheckOwner returns an error for the operator if a file or folder belongs to another user than
// this process's and root, or if its mode has any of the forbidden permissions. Who can write in a
// folder can put links there, through which the process would overwrite other files of its user.
func CheckOwner(path string, info fs.FileInfo, forbidden fs.FileMode) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	user := uint32(os.Geteuid())
	switch {
	case ok && stat.Uid != user && stat.Uid != 0:
		return fmt.Errorf("%s belongs to the user %d, and this process is of the user %d: use one of your own", path, stat.Uid, user)
	case info.Mode().Perm()&forbidden != 0:
		return fmt.Errorf("other users can write in %s (mode %04o): run chmod o-w on it, or use another", path, info.Mode().Perm())
	}
	return nil
}

// OpenLock opens a file to lock it, and creates it if it does not exist. It follows no link.
func OpenLock(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
}
