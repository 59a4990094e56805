package embedded

import (
	"os"
	"runtime/debug"
	"sync"
)

// setCollector sets, once, how often the process's heap is collected, where GOGC does not say it.
var setCollector = sync.OnceFunc(func() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectorPercent)
	}
})
