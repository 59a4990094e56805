// Package budget bounds throughput in request units per second, as the service does.
package budget

import (
	"math"
	"strconv"
	"sync"
	"time"
)

// Substatuses of the service's responses with status 429 (TooManyRequests).
const (
	Substatus       = 3200 // the throughput is used up
	BucketSubstatus = 3212 // the throughput bucket of the request has used up its percentage
)

// RefusalCharge is the charge of a throttled request in RU, as the service's diagnostics show it.
const RefusalCharge = 0.38

// RetryAfter returns the value of the header x-ms-retry-after-ms for a time to wait: whole
// milliseconds, rounded up, so that a request is not refused again after its wait.
func RetryAfter(wait time.Duration) string {
	return strconv.FormatInt((wait + time.Millisecond - 1).Milliseconds(), 10)
}

// Priority decides which requests are refused first if the throughput is short.
type Priority int

// The priorities of requests. High is the service's default.
const (
	High Priority = iota
	Low
)

// Allowance is what is left of a second's throughput. The zero Allowance is full. It may be used
// concurrently.
//
// The charge of a request is known only after its response. A request at high priority is therefore
// admitted while anything is left of the current second, and any excess is deducted from later
// seconds. What is left of a second expires.
//
// What requests at high priority used in one second is kept for them in the next one: a request at
// low priority is admitted only while more than that is left. If any of them was refused, the whole
// next second is kept. Nothing is kept while there are none.
type Allowance struct {
	mu     sync.Mutex
	second time.Time // start of the current second; zero before the first request
	left   float64   // RU; negative if later seconds are already charged
	kept   float64   // RU of the current second for high priority; negative if more was used
	high   float64   // RU to keep in the next second
}

// Admit returns 0 if a request is admitted at the time now, and the time to wait otherwise.
// perSecond is the throughput in RU/s, above 0. After its wait, a request at high priority is
// admitted if no other one was faster. One at low priority may be refused again.
func (a *Allowance) Admit(priority Priority, perSecond float64, now time.Time) (wait time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.advance(perSecond, now)
	switch {
	case priority == High && a.left > 0, a.left > max(0, a.kept):
		return 0
	case priority == High:
		a.high = max(a.high, perSecond)
	}
	seconds := math.Floor(max(0, -a.left)/perSecond) + 1
	return a.second.Add(time.Duration(seconds) * time.Second).Sub(now)
}

// advance begins the second of now.
func (a *Allowance) advance(perSecond float64, now time.Time) {
	if a.second.IsZero() {
		a.second, a.left = now, perSecond
	}
	passed := now.Sub(a.second).Truncate(time.Second)
	if passed <= 0 {
		return
	}
	a.second = a.second.Add(passed)
	a.left = min(perSecond, a.left+perSecond*passed.Seconds())
	a.kept, a.high = a.high, 0
	if passed > time.Second {
		a.kept = 0
	}
}

// Pay deducts the charge of an admitted request in RU.
func (a *Allowance) Pay(priority Priority, charge float64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.left -= charge
	if priority == High {
		a.kept -= charge
		a.high += charge
	}
}
