package api

import (
	"sync"
	"time"
)

// recentNames remembers which names were logged in the current period. Anyone can send any name, so
// each is logged once per period, and at most maxRecentNames in all.
type recentNames struct {
	mu    sync.Mutex
	since time.Time
	names map[string]bool
}

const (
	recentPeriod   = time.Minute
	maxRecentNames = 10 // logged in a period
)

// isNew reports whether a name is to be logged.
func (o *recentNames) isNew(name string, now time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.names == nil || now.Sub(o.since) >= recentPeriod {
		o.since, o.names = now, map[string]bool{}
	}
	if o.names[name] || len(o.names) >= maxRecentNames {
		return false
	}
	o.names[name] = true
	return true
}
