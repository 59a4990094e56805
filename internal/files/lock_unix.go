//go:build unix

package files

import (
	"errors"
	"os"
	"syscall"
)

// ErrLocked is the error of a lock that another process holds.
var ErrLocked = errors.New("the file is locked by another process")

// Lock locks a file. The lock ends when the file is closed or the process ends, even by a
// crash. It returns ErrLocked if another process holds the lock.
func Lock(file *os.File) error {
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return ErrLocked
		default:
			return err
		}
	}
}
