// Package budget bounds throughput in request units per second, as the service does.
package budget

import (
	"math"
	"strconv"
	"sync"
	"time"
)

// Substatus is the substatus of the service's responses with status 429 (TooManyRequests).
const Substatus = 3200

// RefusalCharge is the charge of a throttled request in RU, as the service's diagnostics show it.
const RefusalCharge = 0.38

// RetryAfter returns the value of the header x-ms-retry-after-ms for a time to wait: whole
// milliseconds, rounded up, so that a request is not refused again after its wait.
func RetryAfter(wait time.Duration) string {
	return strconv.FormatInt((wait + time.Millisecond - 1).Milliseconds(), 10)
}

// Allowance is what is left of a second's throughput. The zero Allowance is full. It may be used
// concurrently.
//
// The charge of a request is known only after its response. A request is therefore admitted while
// anything is left of the current second, and any excess is deducted from later seconds. What is
// left of a second expires.
type Allowance struct {
	mu     sync.Mutex
	second time.Time // start of the current second; zero before the first request
	left   float64   // RU; negative if later seconds are already charged
}

// Admit returns 0 if a request is admitted at the time now, and the time to wait otherwise.
// perSecond is the throughput in RU/s, above 0.
func (a *Allowance) Admit(perSecond float64, now time.Time) (wait time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.second.IsZero() {
		a.second, a.left = now, perSecond
	}
	if passed := now.Sub(a.second).Truncate(time.Second); passed > 0 {
		a.second = a.second.Add(passed)
		a.left = min(perSecond, a.left+perSecond*passed.Seconds())
	}
	if a.left > 0 {
		return 0
	}
	seconds := math.Floor(-a.left/perSecond) + 1
	return a.second.Add(time.Duration(seconds) * time.Second).Sub(now)
}

// Pay deducts the charge of an admitted request in RU.
func (a *Allowance) Pay(charge float64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.left -= charge
}
