package faults

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Budget refuses requests to items and procedures, as the service does where a container uses more than its throughput:
// with 429, substatus 3200, and how long to wait. What a request costs is known once it is answered, so it is let through
// while anything is left of the second's budget; what it used too much is taken from the seconds after. What a second
// leaves is lost. Reads and writes count alike; requests to other things, such as containers, pass.
//
// The embedded engine never throttles by itself. A Budget may be used concurrently; its fields are set before it is used.
type Budget struct {
	Next      Transporter
	PerSecond float64 // RU of each container
	Now       func() time.Time

	mu      sync.Mutex
	left    map[string]*allowance // by the container's link
	refused int
}

// allowance is what is left of a second.
type allowance struct {
	second time.Time // its beginning
	left   float64   // RU; below 0 where the seconds to come have paid already
}

// Refused gives how many requests were refused.
func (b *Budget) Refused() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.refused
}

// Do sends a request, or refuses it.
func (b *Budget) Do(request *http.Request) (*http.Response, error) {
	if !isOfItems(request) {
		return b.Next.Do(request)
	}
	container := containerOf(request)
	if wait := b.admit(container); wait > 0 {
		answer := Fault{Status: http.StatusTooManyRequests, RetryAfter: wait}.answer(request)
		answer.Header.Set("X-Ms-Substatus", "3200")
		return answer, nil
	}
	answer, err := b.Next.Do(request)
	if err == nil {
		charge, _ := strconv.ParseFloat(answer.Header.Get("X-Ms-Request-Charge"), 64)
		b.pay(container, charge)
	}
	return answer, err
}

// admit gives 0, or how long to wait until something is left.
func (b *Budget) admit(container string) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.Now()
	if b.left == nil {
		b.left = map[string]*allowance{}
	}
	if b.left[container] == nil {
		b.left[container] = &allowance{now, b.PerSecond}
	}
	a := b.left[container]
	if passed := now.Sub(a.second).Truncate(time.Second); passed > 0 {
		a.second = a.second.Add(passed)
		a.left = min(b.PerSecond, a.left+b.PerSecond*passed.Seconds())
	}
	if a.left > 0 {
		return 0
	}
	b.refused++
	seconds := math.Floor(-a.left/b.PerSecond) + 1
	return a.second.Add(time.Duration(seconds) * time.Second).Sub(now)
}

func (b *Budget) pay(container string, charge float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left[container].left -= charge
}

// containerOf gives the link of the container that a request to items or procedures is for.
func containerOf(request *http.Request) string {
	return strings.Join(strings.Split(strings.Trim(request.URL.Path, "/"), "/")[:4], "/")
}
