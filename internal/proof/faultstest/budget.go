package faultstest

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Budget throttles requests to items and procedures of a container that exceeds its throughput,
// as the service does. It returns 429 with substatus 3200 and the time to wait.
//
// The charge of a request is known only after its response. A request is therefore admitted
// while anything is left of the current second's budget, and any excess is deducted from later
// seconds. What is left of a second expires. Reads and writes count alike. Requests to other
// resources, such as containers, are not throttled.
//
// The embedded engine never throttles by itself. A Budget may be used concurrently. Its fields
// must be set before its first use.
type Budget struct {
	Next      Transporter
	PerSecond float64 // RU/s of each container
	Now       func() time.Time

	mu      sync.Mutex
	left    map[string]*allowance // by container link
	refused int
}

// allowance is the remaining budget of a second.
type allowance struct {
	second time.Time // start of the second
	left   float64   // RU; negative if later seconds are already charged
}

// Refused returns the number of throttled requests.
func (b *Budget) Refused() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.refused
}

// Do sends a request or throttles it.
func (b *Budget) Do(request *http.Request) (*http.Response, error) {
	if !isOfItems(request) {
		return b.Next.Do(request)
	}
	container := containerOf(request)
	if wait := b.admit(container); wait > 0 {
		response := Fault{Status: http.StatusTooManyRequests, RetryAfter: wait}.response(request)
		response.Header.Set("X-Ms-Substatus", "3200")
		return response, nil
	}
	response, err := b.Next.Do(request)
	if err == nil {
		charge, _ := strconv.ParseFloat(response.Header.Get("X-Ms-Request-Charge"), 64)
		b.pay(container, charge)
	}
	return response, err
}

// admit returns 0 if a request is admitted, and the time to wait otherwise.
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

// containerOf returns the link of the container in a request to items or procedures.
func containerOf(request *http.Request) string {
	return strings.Join(strings.Split(strings.Trim(request.URL.Path, "/"), "/")[:4], "/")
}
