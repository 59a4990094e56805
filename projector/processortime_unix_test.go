//go:build unix

package projector_test

import (
	"syscall"
	"testing"
	"time"
)

// processorTime returns the processor time that the process has used. Other load on the machine
// does not change it.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
