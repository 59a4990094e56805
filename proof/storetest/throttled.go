package storetest

import (
	"net/http"
	"sync/atomic"
	"time"

	"cosmosblog/cosmostest"
)

// Budget is cosmostest.Budget that counts the requests that it throttles.
type Budget struct {
	fault   cosmostest.Fault
	refused atomic.Int64
}

// NewBudget returns a budget in RU/s for each container, by a clock.
func NewBudget(perSecond float64, now func() time.Time) *Budget {
	return &Budget{fault: cosmostest.Budget(perSecond, now)}
}

// Fault is the budget as a cosmostest.Fault.
func (b *Budget) Fault(n int, request *http.Request, next Transporter) (*http.Response, error) {
	answer, err := b.fault(n, request, next)
	if err == nil && answer.StatusCode == http.StatusTooManyRequests {
		b.refused.Add(1)
	}
	return answer, err
}

// Refused returns the number of throttled requests.
func (b *Budget) Refused() int { return int(b.refused.Load()) }

// Throttled is a Budget with its clock. The clock advances by a second at every throttled request,
// unless Stopped. If it is at the last millisecond of a second, azcosmos waits for only 1 ms.
type Throttled struct {
	*Budget
	*cosmostest.Clock
	Stopped bool
}

// NewThrottled returns a budget in RU/s for each container. Its clock starts at a time.
func NewThrottled(now time.Time, perSecond float64) *Throttled {
	clock := cosmostest.NewClock(now)
	return &Throttled{Budget: NewBudget(perSecond, clock.Now), Clock: clock}
}

// Fault is the budget as a cosmostest.Fault.
func (b *Throttled) Fault(n int, request *http.Request, next Transporter) (*http.Response, error) {
	answer, err := b.Budget.Fault(n, request, next)
	if err == nil && answer.StatusCode == http.StatusTooManyRequests && !b.Stopped {
		b.Advance(time.Second)
	}
	return answer, err
}
