//go:build unix

package datafolder

import (
	"errors"
	"os"
	"syscall"
)

// errLocked is the error of a lock that another process holds.
var errLocked = errors.New("locked by another process")

// lockFile locks a file. The lock ends when the file is closed or the process ends, even by a
// crash. It returns errLocked if another process holds the lock.
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
