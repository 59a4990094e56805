package storetest

import (
	"net/http"
	"sync"
	"time"

	"cosmosblog/internal/proof/faultstest"
)

// Throttled is a transport with a budget of RU per second. Its clock advances by a second at
// every throttled request, unless Stopped. If the clock is at the last millisecond of a second,
// azcosmos waits for only 1 ms.
type Throttled struct {
	*faultstest.Budget
	mu      sync.Mutex
	time    time.Time
	Stopped bool
}

// Do implements Transporter.
func (b *Throttled) Do(request *http.Request) (*http.Response, error) {
	answer, err := b.Budget.Do(request)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if answer.StatusCode == http.StatusTooManyRequests && !b.Stopped {
		b.time = b.time.Add(time.Second)
	}
	return answer, nil
}

// Clock returns the time of the clock.
func (b *Throttled) Clock() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.time
}

// NewThrottled returns a Throttled whose clock starts at a time. The caller sets its Budget.
func NewThrottled(now time.Time) *Throttled { return &Throttled{time: now} }

// Advance advances the clock.
func (b *Throttled) Advance(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.time = b.time.Add(d)
}
