package storetest

import (
	"net/http"
	"sync"
	"time"

	injected "cosmosblog/internal/faultstest"
)

// Throttled is an engine behind a budget of RU, whose clock moves by a second whenever a request is refused: it stands at
// a second's last millisecond, so that azcosmos waits for one.
type Throttled struct {
	*injected.Budget
	Mu      sync.Mutex
	time    time.Time
	Stopped bool
}

func (b *Throttled) Do(request *http.Request) (*http.Response, error) {
	answer, err := b.Budget.Do(request)
	if err != nil {
		return nil, err
	}
	b.Mu.Lock()
	defer b.Mu.Unlock()
	if answer.StatusCode == http.StatusTooManyRequests && !b.Stopped {
		b.time = b.time.Add(time.Second)
	}
	return answer, nil
}

func (b *Throttled) Clock() time.Time {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	return b.time
}

// NewThrottled returns a throttled engine whose clock stands at a time. The caller sets its Budget.
func NewThrottled(now time.Time) *Throttled { return &Throttled{time: now} }

// Advance moves the clock.
func (b *Throttled) Advance(d time.Duration) {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	b.time = b.time.Add(d)
}
