package storetest

import (
	"os"
	"runtime/debug"
)

// collectionPercent is GOGC in tests. The heaps of tests are small, so the default value collects
// many times a second, and takes a quarter of the processor time.
const collectionPercent = 400

func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectionPercent)
	}
}
