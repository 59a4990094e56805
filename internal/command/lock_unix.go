//go:build unix

package command

import (
	"errors"
	"os"
	"syscall"
)

// errLocked says that another process holds a lock.
var errLocked = errors.New("locked by another process")

// lockFile takes a lock that ends with the process, however it ends, or with the file's closing. Error: errLocked.
func lockFile(file *os.File) error {
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return errLocked
		default:
			return err
		}
	}
}
