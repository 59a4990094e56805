//go:build !unix

package projector_test

import (
	"testing"
	"time"
)

// processorTime is not measured on this system.
func processorTime(*testing.B) time.Duration { return 0 }
