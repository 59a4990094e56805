//go:build !unix

package store_test

import (
	"testing"
	"time"
)

// processorTime is not measured on this system.
func processorTime(*testing.B) time.Duration { return 0 }
