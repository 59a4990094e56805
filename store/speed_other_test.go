//go:build !unix

package store_test

import (
	"testing"
	"time"
)

// processorTime is not asked for here.
func processorTime(*testing.B) time.Duration { return 0 }
