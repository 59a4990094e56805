//go:build unix

package store_test

import (
	"syscall"
	"testing"
	"time"
)

// processorTime is what the process has used, whoever else used the machine's processors meanwhile.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
