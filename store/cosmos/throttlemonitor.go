package cosmos

import (
	"net/http"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// throttleMonitor is what a Store's requests see of throughput being short. It may be used concurrently.
type throttleMonitor struct {
	mu       sync.Mutex
	refusals int64         // so far
	wait     time.Duration // that the last one asked for
}

func (s *throttleMonitor) read() (refusals int64, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refusals, s.wait
}

// note takes notice of an answer.
func (s *throttleMonitor) note(response *http.Response) {
	if response.StatusCode != http.StatusTooManyRequests {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusals++
	s.wait = askedWait(response)
}

// throttlePolicy has the shortage take notice of each answer, those included that are followed by another try.
type throttlePolicy struct{ *throttleMonitor }

func (p throttlePolicy) Do(request *policy.Request) (*http.Response, error) {
	response, err := request.Next()
	if err == nil {
		p.note(response)
	}
	return response, err
}
