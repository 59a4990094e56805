package projector_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain collects garbage less often: the tests make hundreds of small engines, which live
// for a moment.
func TestMain(m *testing.M) {
	debug.SetGCPercent(800)
	os.Exit(m.Run())
}
