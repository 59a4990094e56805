package faultstest

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Transporter is azcore's policy.Transporter.
type Transporter interface {
	Do(*http.Request) (*http.Response, error)
}

// Fault is a way in which a request fails.
type Fault struct {
	Status     int           // status of the response; 0 closes the connection
	RetryAfter time.Duration // sent with the status unless it is 0
	// Done processes the request before its response is lost. Otherwise, the request is not sent.
	Done bool
	// Silent sends no response until the caller cancels.
	Silent bool
	// Reads applies the fault to reads too. Otherwise, it only applies to writes.
	Reads bool
}

// Transport makes requests to items and procedures fail at random. Requests to other resources,
// such as containers, never fail. It may be used concurrently. Its fields must be set before its
// first use.
type Transport struct {
	Next   Transporter
	Faults []Fault    // one is chosen at random for each request
	Chance float64    // probability that a request fails, from 0 to 1
	Random *rand.Rand // required unless Chance is 0 or 1

	mu      sync.Mutex
	allowed int
}

// Unlimited is a number of faults that no test reaches.
const Unlimited = 1 << 30

// Allow sets the number of requests that may still fail. It is 0 initially.
func (t *Transport) Allow(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.allowed = n
}

// SetChance changes the probability of a failure. It may be called while the transport is in
// use.
func (t *Transport) SetChance(chance float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Chance = chance
}

// Do sends a request or makes it fail.
func (t *Transport) Do(request *http.Request) (*http.Response, error) {
	fault, ok := t.draw(request)
	if !ok {
		return t.Next.Do(request)
	}
	if fault.Done {
		if _, err := t.Next.Do(request); err != nil {
			return nil, err
		}
	}
	switch {
	case fault.Silent:
		<-request.Context().Done()
		return nil, request.Context().Err()
	case fault.Status == 0:
		return nil, ErrCut
	}
	return fault.response(request), nil
}

// ErrCut reports a closed connection.
var ErrCut = errors.New("connection closed")

func (t *Transport) draw(request *http.Request) (Fault, bool) {
	if !isOfItems(request) || len(t.Faults) == 0 {
		return Fault{}, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.allowed == 0 || t.Chance < 1 && t.Random.Float64() >= t.Chance {
		return Fault{}, false
	}
	fault := t.Faults[0]
	if len(t.Faults) > 1 {
		fault = t.Faults[t.Random.IntN(len(t.Faults))]
	}
	if isRead(request) && !fault.Reads {
		return Fault{}, false
	}
	t.allowed--
	return fault, true
}

func (f Fault) response(request *http.Request) *http.Response {
	header := http.Header{}
	header.Set("Content-Type", "application/json")
	if f.RetryAfter > 0 {
		header.Set("X-Ms-Retry-After-Ms", fmt.Sprint(f.RetryAfter.Milliseconds()))
	}
	const body = `{"code":"Injected","message":"injected"}`
	return &http.Response{
		Status:        fmt.Sprint(f.Status, " ", http.StatusText(f.Status)),
		StatusCode:    f.Status,
		Header:        header,
		Body:          io.NopCloser(strings.NewReader(body)),
		ContentLength: int64(len(body)),
		Request:       request,
	}
}

// isOfItems reports whether a request is to items or scripts of a container: /dbs/d/colls/c/docs
// or sprocs.
func isOfItems(request *http.Request) bool {
	parts := strings.Split(strings.Trim(request.URL.Path, "/"), "/")
	return len(parts) > 4 && (parts[4] == "docs" || parts[4] == "sprocs")
}

func isRead(request *http.Request) bool {
	return request.Method == http.MethodGet || request.Header.Get("X-Ms-Documentdb-Query") != ""
}
