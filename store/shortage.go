package store

import (
	"net/http"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// shortage is what a Store's requests see of throughput being short. It may be used concurrently.
type shortage struct {
	mu       sync.Mutex
	refusals int64         // so far
	wait     time.Duration // that the last one asked for
}

func (s *shortage) read() (refusals int64, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refusals, s.wait
}

// note takes notice of an answer.
func (s *shortage) note(response *http.Response) {
	if response.StatusCode != http.StatusTooManyRequests {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusals++
	s.wait = askedWait(response)
}

// shortagePolicy has the shortage take notice of each answer, those included that are followed by another try.
type shortagePolicy struct{ *shortage }

func (p shortagePolicy) Do(request *policy.Request) (*http.Response, error) {
	response, err := request.Next()
	if err == nil {
		p.note(response)
	}
	return response, err
}
