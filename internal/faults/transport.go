package faults

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

// Fault is one way in which a request fails.
type Fault struct {
	Status     int           // of the answer; 0 cuts the connection
	RetryAfter time.Duration // told with the status where it is not 0
	// Done lets the request be done before its answer is lost; otherwise it is not sent.
	Done bool
	// Silent gives no answer at all until the caller gives up.
	Silent bool
	// Reads says that reads fail in this way too; otherwise writes alone do.
	Reads bool
}

// Transport lets requests to items and procedures fail at random. Requests to other things, such as containers, pass. It
// may be used concurrently; its fields are set before it is used.
type Transport struct {
	Next   Transporter
	Faults []Fault    // of which a request gets one at random
	Chance float64    // that a request fails, from 0 to 1
	Random *rand.Rand // required where Chance is neither 0 nor 1

	mu      sync.Mutex
	allowed int
}

// Unlimited is more faults than any test sees.
const Unlimited = 1 << 30

// Allow lets n more requests fail, whatever was allowed before. In the beginning none may.
func (t *Transport) Allow(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.allowed = n
}

// SetChance changes the chance while the transport is used.
func (t *Transport) SetChance(chance float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Chance = chance
}

// Do sends a request or lets it fail.
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
	return fault.answer(request), nil
}

// ErrCut is a connection that was cut.
var ErrCut = errors.New("the connection was cut")

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

func (f Fault) answer(request *http.Request) *http.Response {
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

// isOfItems tells whether a request is to items or scripts of a container: /dbs/d/colls/c/docs or sprocs.
func isOfItems(request *http.Request) bool {
	parts := strings.Split(strings.Trim(request.URL.Path, "/"), "/")
	return len(parts) > 4 && (parts[4] == "docs" || parts[4] == "sprocs")
}

func isRead(request *http.Request) bool {
	return request.Method == http.MethodGet || request.Header.Get("X-Ms-Documentdb-Query") != ""
}
