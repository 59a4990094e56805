package storetest

import (
	"net/http"
	"sync/atomic"
	"time"

	"cosmosblog/cosmostest"
)

// Throttled is the budget of an account, with its clock. The clock advances by a second at every
// throttled request, unless Stopped. If it is at the last millisecond of a second, azcosmos waits
// for only 1 ms.
type Throttled struct {
	*cosmostest.Clock
	Stopped bool

	budget  cosmostest.Fault
	refused atomic.Int64
}

// NewThrottled returns a budget in RU/s for each container. Its clock starts at a time.
func NewThrottled(now time.Time, perSecond float64) *Throttled {
	clock := cosmostest.NewClock(now)
	return &Throttled{Clock: clock, budget: cosmostest.Budget(perSecond, clock.Now)}
}

// Fault is the budget as a cosmostest.Fault.
func (b *Throttled) Fault(n int, request *http.Request, next Transporter) (*http.Response, error) {
	answer, err := b.budget(n, request, next)
	if err == nil && answer.StatusCode == http.StatusTooManyRequests {
		b.refused.Add(1)
		if !b.Stopped {
			b.Advance(time.Second)
		}
	}
	return answer, err
}

// Refused returns the number of throttled requests.
func (b *Throttled) Refused() int { return int(b.refused.Load()) }
